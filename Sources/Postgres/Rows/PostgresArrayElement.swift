public import Foundation

/// A type whose arrays can be read from a column.
public protocol PostgresArrayElement {
    /// - Throws: ``PostgresError/Code/decoding``.
    static func decodeArray(_ value: PostgresBinary) throws -> [Self]
}

extension Array: PostgresDecodable where Element: PostgresArrayElement {
    public static func decode(_ value: PostgresBinary) throws -> [Element] { try Element.decodeArray(value) }
}

/// `[UInt8]` is a `bytea`, not an array in PostgreSQL's sense.
extension UInt8: PostgresArrayElement {
    public static func decodeArray(_ value: PostgresBinary) throws -> [UInt8] {
        [UInt8](try value.bytes(of: .bytea))
    }
}

extension PostgresArrayElement where Self: PostgresDecodable {
    public static func decodeArray(_ value: PostgresBinary) throws -> [Self] {
        var reader = ArrayReader(try value.present())
        let type = try reader.elementType()
        return try (0..<reader.count).map { _ in
            try Self.decode(PostgresBinary(type: type, bytes: try reader.element()))
        }
    }
}

extension Int: PostgresArrayElement {}
extension Int16: PostgresArrayElement {}
extension Int32: PostgresArrayElement {}
extension Int64: PostgresArrayElement {}
extension Bool: PostgresArrayElement {}
extension Double: PostgresArrayElement {}
extension String: PostgresArrayElement {}
extension UUID: PostgresArrayElement {}
extension PostgresTimestamp: PostgresArrayElement {}
extension Array: PostgresArrayElement where Element == UInt8 {}
extension Optional: PostgresArrayElement where Wrapped: PostgresDecodable {}
