/// A value that publishers share, except those with their own: a Cleeng account, access to a store, secrets.
public struct PerPublisher<Value: Sendable>: Sendable {
    public let common: Value
    /// Values of publishers that have their own.
    public let own: [PublisherID: Value]
    /// All values, the common one first.
    public let all: [Value]
    private let isElsewhere: @Sendable (_ publisher: PublisherID) -> Bool

    /// - Parameter isElsewhere: whether a publisher that is not in `own` has its own value, as other copies know.
    public init(
        _ common: Value, own: [PublisherID: Value] = [:],
        isElsewhere: @escaping @Sendable (_ publisher: PublisherID) -> Bool = { _ in false }
    ) {
        self.common = common
        self.own = own
        self.isElsewhere = isElsewhere
        all = [common] + own.sorted { $0.key < $1.key }.map(\.value)
    }

    /// The publisher's value. Nil if it has its own, but this copy does not know it: the common one must not be used
    /// for it.
    public subscript(publisher: PublisherID) -> Value? { own[publisher] ?? (isElsewhere(publisher) ? nil : common) }

    /// - Parameter publisher: owner of the account; nil for the common one.
    /// - Returns: nil if this copy does not have that account.
    public subscript(account publisher: PublisherID?) -> Value? { publisher.map { own[$0] } ?? common }

    /// The publishers that use this publisher's own account; nil means the common account.
    public func scope(ofAccount publisher: PublisherID?) -> PublisherScope {
        publisher.map { .only($0) } ?? .allBut(Set(own.keys))
    }

    public func map<Other>(_ transform: (Value) throws -> Other) rethrows -> PerPublisher<Other> {
        try mapAccounts { _, value in try transform(value) }
    }

    /// - Parameter transform: receives the publisher; nil for the common value.
    public func mapAccounts<Other>(
        _ transform: (_ publisher: PublisherID?, Value) throws -> Other
    ) rethrows -> PerPublisher<Other> {
        var others: [PublisherID: Other] = [:]
        for (publisher, value) in own { others[publisher] = try transform(publisher, value) }
        return PerPublisher<Other>(try transform(nil, common), own: others, isElsewhere: isElsewhere)
    }
}

/// Rules for publishers' names.
extension PublisherID {
    /// Publisher of everything that names no publisher.
    public static let first: Self = "main"
    public static let rule = "up to 63 of a-z, 0-9, _ and -, the first a letter or digit"

    public static func isValid(_ text: String) -> Bool {
        text.wholeMatch(of: /[a-z0-9][a-z0-9_-]{0,62}/) != nil
    }
}

/// The publishers that a worker serves: one with its own Cleeng account, or all that share the common one. The database
/// stores which publishers have their own account; queries compare the two.
public enum PublisherScope: Sendable, Hashable {
    case only(PublisherID)
    case allBut(Set<PublisherID>)

    /// All publishers, if none is known to have its own account.
    public static let common = Self.allBut([])
}
