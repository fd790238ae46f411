/// A value of a private column that is not a name: a receipt, a message, an address.
///
/// The database stores it sealed if encryption is on. It is read and written by calls of its own: the compiler finds a
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
    /// Hides the value, so that it cannot get into a log by accident.
    public var description: String { "private" }
    public var debugDescription: String { description }
}
