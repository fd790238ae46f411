/// The store of a purchase. Its name prefixes every product and purchase that a publisher's back end sees, and the keys
/// of all subscriptions that are not Apple's.
public enum StorePlatform: String, Sendable, Hashable, CaseIterable {
    case apple
    case google
    case amazon
    case roku

    /// For people, within a sentence.
    public var title: String {
        switch self {
        case .apple: "the App Store"
        case .google: "Google Play"
        case .amazon: "the Amazon Appstore"
        case .roku: "Roku Pay"
        }
    }

    /// Reads the store from a subscription's key: Apple's are bare numbers, or what an app sent instead.
    public init(subscriptionKey key: TransactionID) {
        self = Self.allCases.first { $0.prefixesKeys && key.text.hasBytes(first: $0.prefix) } ?? .apple
    }

    /// Whether the keys of its subscriptions begin with its name.
    private var prefixesKeys: Bool {
        switch self {
        case .apple: false
        case .google, .amazon, .roku: true
        }
    }

    /// Whether the store can be asked which purchases it took back. Apple lists all that it has sent.
    public var listsVoided: Bool {
        switch self {
        case .apple, .google: true
        case .amazon, .roku: false
        }
    }

    /// Whether each renewal has a name of its own, by which the store finds the subscription too: the store's answer names the one that
    /// counts.
    public var namesRenewals: Bool { self == .roku }

    var prefix: String { rawValue + ":" }

    /// `google:…`, with the store's own name for it.
    public func prefixed(_ name: String) -> String { prefix + name }

    public func prefixed<Kind>(_ name: Identifier<Kind>) -> String { prefixed(name.text) }

    /// The key of a subscription that the store knows by this name.
    public func subscriptionKey(_ name: TransactionID) -> TransactionID {
        prefixesKeys ? TransactionID(prefixed(name)) : name
    }

    /// The store's own name for what has this key.
    public func name(ofKey key: TransactionID) -> TransactionID {
        guard prefixesKeys, key.text.hasBytes(first: prefix) else { return key }
        return TransactionID(String(key.text.droppingBytes(first: prefix.utf8.count)))
    }

    /// As billwerk calls it in `Type`: `AppleIap`, `GoogleIap`, `AmazonIap`, `RokuPay`.
    public var iapType: String {
        switch self {
        case .apple: "AppleIap"
        case .google: "GoogleIap"
        case .amazon: "AmazonIap"
        case .roku: "RokuPay"
        }
    }

    /// Without regard to case; nil for a type that the relay does not take.
    public init?(iapType: String) {
        guard let found = Self.allCases.first(where: { $0.iapType.lowercased() == iapType.lowercased() }) else {
            return nil
        }
        self = found
    }
}
