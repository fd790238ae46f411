import Relay
import RelayCore
import RokuPay

extension StoreModule {
    static let roku = StoreModule(
        platform: .roku, settings: [.rokuAPIKey, .rokuAPIURL, .rokuJWKSURL, .rokuUnsigned],
        addresses: [.rokuAPIURL], credential: .rokuAPIKey, access: RokuAccess.self, process: RokuSettings.self)
}

extension Setting.Group {
    static let roku = Self(
        "roku", "Roku Pay",
        lead:
            "Questions about transactions ([stores.md](stores.md#roku-pay)). Without a key the relay asks nothing. The key opens `POST /roku/notifications`.",
        isSection: true)
}

extension Setting {
    static let rokuAPIKey = Setting(
        "RELAY_ROKU_API_KEY", .form("1 to 512 visible ASCII characters"), isSecret: true, isPublishersOwn: true,
        group: .roku, readers: .service, example: "…",
        "the developer account's API key. It is a part of the path that is asked, so a proxy in between must not log paths"
    )
    static let rokuAPIURL = Setting(
        "RELAY_ROKU_API_URL", .url, standard: "https://apipub.roku.com", group: .roku, readers: .service,
        "URL of the Roku Pay API")
    static let rokuJWKSURL = Setting(
        "RELAY_ROKU_JWKS_URL", .url, standard: "https://assets.cs.roku.com/keys/partner-jwks.json", group: .roku,
        readers: .front,
        "URL of Roku's keys, which verify its notifications; `…/partner-jwks-test.json` for its test pushes"
    )
    static let rokuUnsigned = Setting(
        "RELAY_ROKU_UNSIGNED", .choice(["signal", "answer-key", "refuse"]), standard: "signal", group: .roku,
        readers: .front,
        "notifications of the older form, which is not signed: `signal` asks Roku about the purchases that are known already; `answer-key` does the same and answers with the API key in the header `ApiKey`, so **every client that reaches the route learns the key**: only for an account of the old form, behind a proxy that lets in only Roku; `refuse` answers 403"
    )
}

/// Access to Roku, if an API key is set.
struct RokuAccess: StoreAccess {
    var key: RokuAPIKey
    var url: String

    /// Nil without an API key.
    ///
    /// - Throws: ``SettingError``.
    static func read(_ reader: SettingReader) throws -> Self? {
        let url = try reader.base(.rokuAPIURL)
        guard let text = try reader.text(.rokuAPIKey) else { return nil }
        guard let key = RokuAPIKey(text) else {
            throw SettingError.malformed(.rokuAPIKey, wants: "1 to 512 visible ASCII characters without spaces")
        }
        return RokuAccess(key: key, url: url)
    }

    func store(_ tools: StoreTools) -> any ExternalStore {
        RokuStore(
            client: RokuTransactionClient(
                url: url, key: key, timeout: tools.timeout, httpClient: tools.httpClient, logger: tools.logger),
            now: tools.now)
    }
}

/// Roku's pushes that the relay accepts, if it has access to Roku.
struct RokuSettings: StoreSettings {
    private var keysURL: String
    private var unsigned: RokuUnsigned

    init(_ reader: SettingReader) throws {
        keysURL = try reader.url(.rokuJWKSURL) ?? ""
        unsigned = try reader.choice(.rokuUnsigned)
    }

    var wantsAccess: Bool { false }

    func notifications(_ tools: NotificationTools) async throws -> (any NotificationSource)? {
        // A Roku account has one address for its pushes, and the relay has one route for them.
        let accesses = tools.accesses.compactMap { $0 as? RokuAccess }
        guard unsigned != .answerKey || accesses.count < 2 else {
            throw SettingError.malformed(
                .rokuUnsigned, wants: "signal or refuse, where several publishers have keys of Roku's")
        }
        guard let access = accesses.first else { return nil }
        let unsigned: RokuNotifications.Unsigned =
            switch unsigned {
            case .answerKey: .answerKey(Private(access.key.text))
            case .signal: .signal
            case .refuse: .refuse
            }
        return RokuNotifications(
            keys: try await tools.keySets.fetched(from: keysURL, of: "Roku's pushes"), unsigned: unsigned)
    }
}

/// What the relay does with unsigned pushes.
enum RokuUnsigned: String, CaseIterable, Sendable {
    case signal
    case answerKey = "answer-key"
    case refuse
}
