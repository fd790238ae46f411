import Formats

/// The store of a purchase. Its name prefixes the products and purchases that publishers' back ends receive. It also
/// prefixes the keys of subscriptions, except Apple's. What else differs between stores is in ``StoreTraits``.
@dynamicMemberLookup
public enum StorePlatform: String, Sendable, Hashable, CaseIterable {
    case apple
    case google
    case amazon
    case roku

    /// Stores that are asked about each purchase, and after each notification. What Apple sends is complete and signed.
    public static let asked = allCases.filter { $0 != .apple }

    public subscript<Value>(dynamicMember trait: KeyPath<StoreTraits, Value>) -> Value { traits[keyPath: trait] }

    /// Reads the store from a subscription's key. Apple's keys have no prefix: they are numbers, or a text of the app.
    public init(subscriptionKey key: TransactionID) {
        self = Self.allCases.first { $0.prefixesKeys && key.text.hasBytes(first: $0.prefix) } ?? .apple
    }

    /// Whether keys of its subscriptions begin with its name.
    private var prefixesKeys: Bool { self != .apple }

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
