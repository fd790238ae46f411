public import Foundation

/// One parameter of a statement: its type, and its value in PostgreSQL's binary form.
///
/// The type goes to the server with the statement, so `$1` needs no cast. A `nil` is NULL of that type.
public struct PostgresValue: Sendable {
    let type: PostgresType
    let bytes: [UInt8]?

    init(_ type: PostgresType, _ bytes: [UInt8]?) {
        self.type = type
        self.bytes = bytes
    }

    private init<T>(_ type: PostgresType, _ value: T?, _ encode: (T, inout [UInt8]) -> Void) {
        self.type = type
        self.bytes = value.map { value in
            var bytes: [UInt8] = []
            encode(value, &bytes)
            return bytes
        }
    }

    public static func int2(_ value: Int16?) -> PostgresValue { PostgresValue(.int2, value, BinaryFormat.integer) }

    public static func int4(_ value: Int32?) -> PostgresValue { PostgresValue(.int4, value, BinaryFormat.integer) }

    public static func int8(_ value: Int64?) -> PostgresValue { PostgresValue(.int8, value, BinaryFormat.integer) }

    public static func float8(_ value: Double?) -> PostgresValue { PostgresValue(.float8, value, BinaryFormat.float8) }

    public static func bool(_ value: Bool?) -> PostgresValue { PostgresValue(.bool, value, BinaryFormat.bool) }

    /// A text with a NUL character in it is refused by the server (22021): `text` cannot hold it.
    public static func text(_ value: String?) -> PostgresValue { PostgresValue(.text, value.map { Array($0.utf8) }) }

    public static func bytea(_ value: [UInt8]?) -> PostgresValue { PostgresValue(.bytea, value) }

    public static func uuid(_ value: UUID?) -> PostgresValue { PostgresValue(.uuid, value, BinaryFormat.uuid) }

    public static func timestamptz(_ value: PostgresTimestamp?) -> PostgresValue {
        PostgresValue(.timestamptz, value, BinaryFormat.timestamp)
    }

    /// A JSON document as text.
    public static func jsonb(_ value: String?) -> PostgresValue {
        // The first byte is the version of the binary form; 1 is the only one there is (`jsonb_recv`).
        PostgresValue(.jsonb, value.map { [1] + Array($0.utf8) })
    }
}
