/// What a private column holds that is no name: a receipt, a message, an address.
///
/// The database keeps it sealed where encryption is on, so it is read and written by other calls than plain values: the compiler finds a
/// reader that forgets to open one, and a writer that forgets to seal it.
public struct Private<Value> {
    public let value: Value

    @inlinable
    public init(_ value: Value) { self.value = value }

    /// Nil for nil.
    @inlinable
    public init?(_ value: Value?) {
        guard let value else { return nil }
        self.value = value
    }
}

extension Private: Sendable where Value: Sendable {}
extension Private: Equatable where Value: Equatable {}

extension Private: CustomStringConvertible, CustomDebugStringConvertible {
    /// Says nothing of the value: what is private gets into no log by accident.
    public var description: String { "private" }
    public var debugDescription: String { description }
}
