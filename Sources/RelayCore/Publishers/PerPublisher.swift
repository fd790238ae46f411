/// Something that publishers share, but for those who have their own: an account at Cleeng, the way to a store, secrets.
public struct PerPublisher<Value: Sendable>: Sendable {
    public let common: Value
    /// By the publisher's id.
    public let own: [String: Value]
    /// The common one first.
    public let all: [Value]

    public init(_ common: Value, own: [String: Value] = [:]) {
        self.common = common
        self.own = own
        all = [common] + own.sorted { $0.key < $1.key }.map(\.value)
    }

    public subscript(publisher: String) -> Value { own[publisher] ?? common }

    /// - Parameter publisher: whose own account it is; nil for the common one.
    public subscript(account publisher: String?) -> Value { publisher.map { self[$0] } ?? common }

    /// Whose the account is that this publisher alone has; nil names the common one. One that is no longer configured speaks for its
    /// publisher alone.
    public func scope(ofAccount publisher: String?) -> PublisherScope {
        publisher.map { .only($0) } ?? .allBut(Set(own.keys))
    }

    public func map<Other>(_ transform: (Value) throws -> Other) rethrows -> PerPublisher<Other> {
        try mapAccounts { _, value in try transform(value) }
    }

    /// - Parameter transform: told whose own it is; nil for the common one.
    public func mapAccounts<Other>(
        _ transform: (_ publisher: String?, Value) throws -> Other
    ) rethrows -> PerPublisher<Other> {
        var others: [String: Other] = [:]
        for (publisher, value) in own { others[publisher] = try transform(publisher, value) }
        return PerPublisher<Other>(try transform(nil, common), own: others)
    }
}
