public import Foundation

/// A type as which a column can be read.
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

/// A value in the server's binary form.
public struct PostgresBinary {
    /// The column's type, or the element's type in an array.
    public let type: PostgresType
    /// Nil for NULL. Valid only while the value is decoded: copy bytes that are needed later.
    public let bytes: UnsafeRawBufferPointer?

    /// The bytes of a non-NULL value of one of these types.
    ///
    /// - Throws: ``PostgresError/Code/decoding``.
    public func bytes(of types: PostgresType...) throws -> UnsafeRawBufferPointer {
        guard types.contains(type) else {
            throw PostgresError(.decoding, "type \(type.rawValue) is not what was asked for")
        }
        return try present()
    }

    func present() throws -> UnsafeRawBufferPointer {
        guard let bytes else { throw PostgresError(.decoding, "unexpected NULL") }
        return bytes
    }

    /// A big-endian integer of exactly the size of `T`.
    func integer<T: FixedWidthInteger>(_ bytes: UnsafeRawBufferPointer, as type: T.Type = T.self) throws -> T {
        guard bytes.count == MemoryLayout<T>.size else {
            throw PostgresError(.decoding, "\(bytes.count) bytes where \(MemoryLayout<T>.size) were expected")
        }
        return T(bigEndian: bytes.loadUnaligned(as: T.self))
    }
}

extension PostgresDecodable where Self: FixedWidthInteger {
    /// Decodes a column of type `int2`, `int4`, `int8` or `oid` whose value fits.
    public static func decode(_ value: PostgresBinary) throws -> Self {
        let bytes = try value.present()
        let number: Int64
        switch value.type {
        case .int2: number = Int64(try value.integer(bytes, as: Int16.self))
        case .int4: number = Int64(try value.integer(bytes, as: Int32.self))
        case .int8: number = try value.integer(bytes, as: Int64.self)
        case .oid: number = Int64(try value.integer(bytes, as: UInt32.self))
        default: throw PostgresError(.decoding, "type \(value.type.rawValue) is no whole number")
        }
        guard let result = Self(exactly: number) else { throw PostgresError(.decoding, "the number is out of range") }
        return result
    }
}

extension Int: PostgresDecodable {}
extension Int16: PostgresDecodable {}
extension Int32: PostgresDecodable {}
extension Int64: PostgresDecodable {}

extension Bool: PostgresDecodable {
    public static func decode(_ value: PostgresBinary) throws -> Bool {
        try value.integer(try value.bytes(of: .bool), as: UInt8.self) != 0
    }
}

extension Double: PostgresDecodable {
    /// Decodes `float8` or `float4`.
    public static func decode(_ value: PostgresBinary) throws -> Double {
        let bytes = try value.bytes(of: .float8, .float4)
        guard value.type == .float8 else { return Double(Float(bitPattern: try value.integer(bytes))) }
        return Double(bitPattern: try value.integer(bytes))
    }
}

extension UUID: PostgresDecodable {
    public static func decode(_ value: PostgresBinary) throws -> UUID {
        let bytes = try value.bytes(of: .uuid)
        guard bytes.count == 16 else { throw PostgresError(.decoding, "a uuid has 16 bytes") }
        return UUID(uuid: bytes.loadUnaligned(as: uuid_t.self))
    }
}

extension PostgresTimestamp: PostgresDecodable {
    public static func decode(_ value: PostgresBinary) throws -> PostgresTimestamp {
        PostgresTimestamp(microsecondsSince2000: try value.integer(try value.bytes(of: .timestamptz)))
    }
}

extension String: PostgresDecodable {
    /// Decodes `text`, `varchar`, `char(n)`, `name`, `json`, `jsonb`, or an enum's label.
    public static func decode(_ value: PostgresBinary) throws -> String {
        var bytes = try value.present()
        switch value.type {
        case .text, .varchar, .bpchar, .name, .json, .unknown: break
        case .jsonb:
            guard bytes.first == 1 else { throw PostgresError(.decoding, "unknown version of jsonb") }
            bytes = UnsafeRawBufferPointer(rebasing: bytes.dropFirst())
        case let type where type.isUserDefined: break
        default: throw PostgresError(.decoding, "type \(value.type.rawValue) is no text")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw PostgresError(.decoding, "the text is not UTF-8")
        }
        return text
    }
}
