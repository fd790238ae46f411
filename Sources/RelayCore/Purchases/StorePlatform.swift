/// Whose store a purchase was made in. Its name stands before every product's and purchase's that a publisher's back end sees,
/// and before the keys of subscriptions that are not Apple's.
public enum StorePlatform: String, Sendable, Hashable, CaseIterable {
    case apple
    case google
    case amazon

    /// Of a subscription by its key: Apple's are bare numbers (or what an app sent in place of one).
    public init(subscriptionKey key: String) {
        self = [.google, .amazon].first { key.hasBytes(first: $0.prefix) } ?? .apple
    }

    var prefix: String { rawValue + ":" }

    /// `google:…`, with the store's own name for it.
    public func prefixed(_ name: String) -> String { prefix + name }

    /// The key of a subscription that the store knows by this name.
    public func subscriptionKey(_ name: String) -> String { self == .apple ? name : prefixed(name) }

    /// The store's own name for what has this key.
    public func name(ofKey key: String) -> String {
        self == .apple || !key.hasBytes(first: prefix) ? key : String(key.droppingBytes(first: prefix.utf8.count))
    }
}
