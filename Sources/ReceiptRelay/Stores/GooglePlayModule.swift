import GooglePlay
import Relay
import RelayCore

extension StoreModule {
    static let google = StoreModule(
        platform: .google,
        settings: [
            .googleServiceAccountFile, .googleAPIURL, .googleTokenURL, .googlePushAudience, .googlePushEmail,
            .googleJWKSURL, .googlePackages, .googleAcknowledge,
        ], addresses: [.googleAPIURL, .googleTokenURL], credential: .googleServiceAccountFile,
        access: GoogleAccess.self, process: GoogleSettings.self)
}

extension Setting.Group {
    static let google = Self(
        "google", "Google Play",
        lead:
            "Questions about purchases ([stores.md](stores.md#google-play)). Without an account the relay asks nothing.",
        isSection: true)
}

extension Setting {
    static let googleServiceAccountFile = Setting(
        "RELAY_GOOGLE_SERVICE_ACCOUNT_FILE", .path, isPublishersOwn: true, group: .google, readers: .service,
        example: "/run/secrets/google_service_account.json",
        "the key file (JSON) of a service account of Google Cloud that the Play Console lets see the apps' financial data"
    )
    static let googleAPIURL = Setting(
        "RELAY_GOOGLE_API_URL", .url, standard: "https://androidpublisher.googleapis.com", group: .google,
        readers: .service, "URL of the Play Developer API")
    static let googleTokenURL = Setting(
        "RELAY_GOOGLE_TOKEN_URL", .url, standard: "https://oauth2.googleapis.com/token", group: .google,
        readers: .service,
        "URL that issues OAuth tokens, and the audience (`aud`) of the account's signature, whatever the file says"
    )

    static let googlePushAudience = Setting(
        "RELAY_GOOGLE_PUSH_AUDIENCE", .form("1 to 512 visible ASCII characters"), group: .google, readers: .front,
        example: "https://relay.example.com/google/notifications",
        "opens `POST /google/notifications`: the audience of the push subscription; with the next one")
    static let googlePushEmail = Setting(
        "RELAY_GOOGLE_PUSH_EMAIL", .form("an email"), group: .google, readers: .front,
        example: "push@project.iam.gserviceaccount.com",
        "the service account in whose name the push subscription signs")
    static let googleJWKSURL = Setting(
        "RELAY_GOOGLE_JWKS_URL", .url, standard: "https://www.googleapis.com/oauth2/v3/certs", group: .google,
        readers: .front, "URL of Google's keys, which verify that token")
    static let googlePackages = Setting(
        "RELAY_GOOGLE_PACKAGES", .form("package names, comma-separated"), group: .google, readers: .front,
        example: "com.example.app", "the apps whose notifications are taken; any where none are named")

    static let googleAcknowledge = Setting(
        "RELAY_GOOGLE_ACKNOWLEDGE", .choice(["on-grant", "never"]), standard: "on-grant", group: .google,
        readers: .worker,
        "whether the relay acknowledges a purchase to Google once it was granted: Google refunds what is not acknowledged within three days. `never` leaves it to the app"
    )
}

/// Access to Google Play, if a service account is set.
struct GoogleAccess: StoreAccess {
    var account: ServiceAccount
    var apiURL: String
    var tokenURL: String

    /// Nil without a service account.
    ///
    /// - Throws: ``SettingError``.
    static func read(_ reader: SettingReader) throws -> Self? {
        let (apiURL, tokenURL) = (try reader.base(.googleAPIURL), try reader.base(.googleTokenURL))
        guard let file = try reader.file(.googleServiceAccountFile) else { return nil }
        do {
            return GoogleAccess(account: try ServiceAccount(json: file), apiURL: apiURL, tokenURL: tokenURL)
        } catch {
            throw SettingError.unreadable(fileOf: .googleServiceAccountFile, why: error.description)
        }
    }

    func store(_ tools: StoreTools) -> any ExternalStore {
        GoogleStore(
            client: GooglePlayClient(
                url: apiURL, tokenURL: tokenURL, account: account, timeout: tools.timeout,
                httpClient: tools.httpClient, logger: tools.logger),
            acknowledges: tools.acknowledges, now: tools.now)
    }
}

/// Google's pushes that the relay accepts, and the acknowledgement of grants.
struct GoogleSettings: StoreSettings {
    /// Nil: none.
    private var push: Push?
    /// Packages whose notifications are accepted; empty: all.
    private var packages: Set<BundleID>
    private var acknowledge: GoogleAcknowledge

    init(_ reader: SettingReader) throws {
        acknowledge = try reader.choice(.googleAcknowledge)
        packages = try Self.packages(reader)
        push = try Push.read(reader)
    }

    var wantsAccess: Bool { push != nil }
    var acknowledges: Bool { acknowledge == .onGrant }

    func notifications(_ tools: NotificationTools) async throws -> (any NotificationSource)? {
        guard let push else { return nil }
        return GoogleNotifications(
            keys: try await tools.keySets.fetched(from: push.keysURL, of: "Google's pushes"),
            audience: push.audience, email: push.email, packages: packages)
    }

    /// The apps whose notifications are accepted.
    private static func packages(_ reader: SettingReader) throws -> Set<BundleID> {
        Set(
            try reader.list(.googlePackages).map { name in
                guard name.wholeMatch(of: /[A-Za-z0-9_.]{1,255}/) != nil else {
                    throw SettingError.malformed(
                        .googlePackages, wants: "package names such as com.example.app, comma-separated")
                }
                return BundleID(name)
            })
    }

    private struct Push: Sendable {
        var audience: String
        var email: String
        var keysURL: String

        /// Nil if neither audience nor email is set.
        ///
        /// - Throws: ``SettingError``.
        static func read(_ reader: SettingReader) throws -> Push? {
            let keysURL = try reader.url(.googleJWKSURL) ?? ""
            let (audience, email) = (try reader.text(.googlePushAudience), try reader.text(.googlePushEmail))
            if audience == nil, email == nil { return nil }
            guard let audience else { throw SettingError.missing(.googlePushAudience) }
            guard let email else { throw SettingError.missing(.googlePushEmail) }
            guard audience.utf8.count <= 512, audience.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
                throw SettingError.malformed(
                    .googlePushAudience, wants: "1 to 512 visible ASCII characters without spaces")
            }
            guard email.utf8.count <= 320, email.contains("@") else {
                throw SettingError.malformed(.googlePushEmail, wants: "the email of a service account")
            }
            return Push(audience: audience, email: email, keysURL: keysURL)
        }
    }
}

/// What acknowledges a granted purchase at Google Play.
enum GoogleAcknowledge: String, CaseIterable, Sendable {
    case onGrant = "on-grant"
    /// The app acknowledges its purchases itself.
    case never
}
