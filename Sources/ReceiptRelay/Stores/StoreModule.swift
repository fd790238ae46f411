import AsyncHTTPClient
import Logging
import Relay
import RelayCore
import Webhooks

/// A store other than Apple's in this process. Each has a file of its own beside this one.
struct StoreModule: Sendable {
    let platform: StorePlatform
    /// Its settings, in the order of the printed reference.
    let settings: [Setting]
    /// Addresses among them that a publisher with its own access may have too.
    let addresses: [Setting]
    /// The setting without which an account has no access.
    let credential: Setting
    let access: any StoreAccess.Type
    let process: any StoreSettings.Type

    static let all = StorePlatform.allCases.compactMap(of)

    private static func of(_ platform: StorePlatform) -> StoreModule? {
        switch platform {
        case .apple: nil
        case .google: .google
        case .amazon: .amazon
        case .roku: .roku
        }
    }
}

/// An account's access to a store.
protocol StoreAccess: Sendable {
    /// Nil without credentials.
    ///
    /// - Throws: ``SettingError``.
    static func read(_ reader: SettingReader) throws -> Self?

    func store(_ tools: StoreTools) -> any ExternalStore
}

/// What a client of a store's API needs besides its access.
struct StoreTools: Sendable {
    let httpClient: HTTPClient
    let timeout: Duration
    /// Time of statements.
    let now: @Sendable () -> Timestamp
    /// Whether grants are acknowledged to the store.
    let acknowledges: Bool
    let logger: Logger
}

/// Settings of a store that all accounts share.
protocol StoreSettings: Sendable {
    /// - Throws: ``SettingError``.
    init(_ reader: SettingReader) throws

    /// Whether they accept notifications, for which the relay must be able to ask the store.
    var wantsAccess: Bool { get }
    /// Whether the relay acknowledges grants to the store.
    var acknowledges: Bool { get }

    /// The source of the store's notifications; nil if they are not accepted.
    ///
    /// - Throws: ``SettingError``, and errors of the keys' first read.
    func notifications(_ tools: NotificationTools) async throws -> (any NotificationSource)?
}

extension StoreSettings {
    var acknowledges: Bool { false }
}

/// What a source of notifications needs besides its settings.
struct NotificationTools: Sendable {
    /// The accounts' access to the store.
    let accesses: [any StoreAccess]
    let keySets: KeySets
    let client: GuardedClient
    let logger: Logger
}
