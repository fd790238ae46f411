/// A type that a column can be read as.
///
/// In this library: `Int`, `Int16`, `Int32`, `Int64` (from any whole-number column, range-checked), `Bool`, `Double`,
/// `String`, `[UInt8]`, `UUID`, ``PostgresTimestamp``, arrays of these, and optionals of all of them.
public protocol PostgresDecodable {
    /// - Throws: ``PostgresError/Code/decoding``.
    static func decode(_ value: PostgresBinary) throws -> Self
}

extension Optional: PostgresDecodable where Wrapped: PostgresDecodable {
    public static func decode(_ value: PostgresBinary) throws -> Wrapped? {
        value.bytes == nil ? nil : try Wrapped.decode(value)
    }
}
