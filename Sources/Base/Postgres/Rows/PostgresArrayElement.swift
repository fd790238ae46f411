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
        // `array_send`: number of dimensions, whether there are NULLs, the type; for each dimension its length and
        // first index.
        var reader = BinaryReader(try value.present())
        let dimensions = try reader.integer()
        _ = try reader.integer()
        let type = try reader.type()
        guard dimensions == 0 || dimensions == 1 else {
            throw PostgresError(.decoding, "not an array of one dimension")
        }
        guard dimensions == 1 else { return [] }
        let count = Int(try reader.integer())
        _ = try reader.integer()
        // Every element takes at least four bytes, so a false count cannot reserve more memory than was received.
        guard count >= 0, count <= reader.rest.count / 4 else {
            throw PostgresError(.decoding, "the value is cut short")
        }
        return try (0..<count).map { _ in try Self.decode(PostgresBinary(type: type, bytes: try reader.value())) }
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

/// Reads the binary form of an array or a row.
struct BinaryReader {
    private(set) var rest: UnsafeRawBufferPointer

    init(_ bytes: UnsafeRawBufferPointer) { rest = bytes }

    mutating func integer() throws -> Int32 { Int32(bigEndian: try take(4).loadUnaligned(as: Int32.self)) }

    mutating func type() throws -> PostgresType { PostgresType(rawValue: UInt32(bitPattern: try integer())) }

    /// Nil for NULL.
    mutating func value() throws -> UnsafeRawBufferPointer? {
        let length = Int(try integer())
        return length < 0 ? nil : try take(length)
    }

    private mutating func take(_ count: Int) throws -> UnsafeRawBufferPointer {
        guard rest.count >= count else { throw PostgresError(.decoding, "the value is cut short") }
        defer { rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count)) }
        return UnsafeRawBufferPointer(rebasing: rest.prefix(count))
    }
}
