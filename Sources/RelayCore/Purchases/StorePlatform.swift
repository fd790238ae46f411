/// The store of a purchase. Its name prefixes the products and purchases that publishers' back ends receive. It also
/// prefixes the keys of subscriptions, except Apple's.
public enum StorePlatform: String, Sendable, Hashable, CaseIterable {
    case apple
    case google
    case amazon
    case roku

    /// Name for use within a sentence.
    public var title: String {
        switch self {
        case .apple: "the App Store"
        case .google: "Google Play"
        case .amazon: "the Amazon Appstore"
        case .roku: "Roku Pay"
        }
    }

    /// Reads the store from a subscription's key. Apple's keys have no prefix: they are numbers, or a text of the app.
    public init(subscriptionKey key: TransactionID) {
        self = Self.allCases.first { $0.prefixesKeys && key.text.hasBytes(first: $0.prefix) } ?? .apple
    }

    /// Whether keys of its subscriptions begin with its name.
    private var prefixesKeys: Bool {
        switch self {
        case .apple: false
        case .google, .amazon, .roku: true
        }
    }

    /// Whether the store can list revoked purchases. Apple lists every notification that it sent.
    public var listsVoided: Bool {
        switch self {
        case .apple, .google: true
        case .amazon, .roku: false
        }
    }

    /// Whether each renewal has an id of its own that also finds the subscription. The store's answer then names the
    /// key.
    public var namesRenewals: Bool { self == .roku }

    var prefix: String { rawValue + ":" }

    /// The store's own name with the prefix: `google:…`.
    public func prefixed(_ name: String) -> String { prefix + name }

    public func prefixed<Kind>(_ name: Identifier<Kind>) -> String { prefixed(name.text) }

    /// The key of a subscription by the store's own name.
    public func subscriptionKey(_ name: TransactionID) -> TransactionID {
        prefixesKeys ? TransactionID(prefixed(name)) : name
    }

    /// The store's own name of a subscription key.
    public func name(ofKey key: TransactionID) -> TransactionID {
        guard prefixesKeys, key.text.hasBytes(first: prefix) else { return key }
        return TransactionID(String(key.text.droppingBytes(first: prefix.utf8.count)))
    }

    /// billwerk's name in `Type`: `AppleIap`, `GoogleIap`, `AmazonIap`, `RokuPay`.
    public var iapType: String {
        switch self {
        case .apple: "AppleIap"
        case .google: "GoogleIap"
        case .amazon: "AmazonIap"
        case .roku: "RokuPay"
        }
    }

    /// Ignores case. Nil for a type that the relay does not accept.
    public init?(iapType: String) {
        guard let found = Self.allCases.first(where: { $0.iapType.lowercased() == iapType.lowercased() }) else {
            return nil
        }
        self = found
    }
}

extension TransactionID {
    /// Text for logs. The holder of a Google purchase token or an Amazon receipt id can act on the purchase, so only the end
    /// is shown.
    public var loggable: String {
        let store = StorePlatform(subscriptionKey: self)
        guard store != .apple else { return text }
        return "\(store.rawValue):…\(text.suffix(min(6, text.count / 4)))"
    }
}
