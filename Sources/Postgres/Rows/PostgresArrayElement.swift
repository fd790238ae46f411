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

/// Reads the binary form of an array of one dimension, or of none (`array_send`).
struct ArrayReader {
    private var rest: UnsafeRawBufferPointer
    private(set) var count = 0

    init(_ bytes: UnsafeRawBufferPointer) { rest = bytes }

    /// To be called first: reads the head.
    mutating func elementType() throws -> PostgresType {
        let dimensions = try integer()
        _ = try integer()
        let type = PostgresType(rawValue: UInt32(bitPattern: try integer()))
        guard dimensions == 0 || dimensions == 1 else {
            throw PostgresError(.decoding, "not an array of one dimension")
        }
        if dimensions == 1 {
            let count = Int(try integer())
            _ = try integer()
            // Every element takes four bytes at least, so a false count cannot make us reserve more than was sent.
            guard count >= 0, count <= rest.count / 4 else { throw PostgresError(.decoding, "the array is cut short") }
            self.count = count
        }
        return type
    }

    mutating func element() throws -> UnsafeRawBufferPointer? {
        let length = Int(try integer())
        return length < 0 ? nil : try take(length)
    }

    private mutating func integer() throws -> Int32 { Int32(bigEndian: try take(4).loadUnaligned(as: Int32.self)) }

    private mutating func take(_ count: Int) throws -> UnsafeRawBufferPointer {
        guard rest.count >= count else { throw PostgresError(.decoding, "the array is cut short") }
        defer { rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count)) }
        return UnsafeRawBufferPointer(rebasing: rest.prefix(count))
    }
}
