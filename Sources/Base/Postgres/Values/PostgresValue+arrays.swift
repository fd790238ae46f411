public import Foundation

/// Arrays of one dimension, mostly for `unnest`. Nil is NULL.
extension PostgresValue {
    private static func array<T>(
        _ array: PostgresType, of type: PostgresType, _ elements: [T?], _ encode: (T, inout [UInt8]) -> Void
    ) -> PostgresValue {
        PostgresValue(array, BinaryFormat.array(of: type, elements, encode))
    }

    public static func int2Array(_ elements: [Int16?]) -> PostgresValue {
        array(.int2Array, of: .int2, elements, BinaryFormat.integer)
    }

    public static func int4Array(_ elements: [Int32?]) -> PostgresValue {
        array(.int4Array, of: .int4, elements, BinaryFormat.integer)
    }

    public static func int8Array(_ elements: [Int64?]) -> PostgresValue {
        array(.int8Array, of: .int8, elements, BinaryFormat.integer)
    }

    public static func boolArray(_ elements: [Bool?]) -> PostgresValue {
        array(.boolArray, of: .bool, elements, BinaryFormat.bool)
    }

    public static func textArray(_ elements: [String?]) -> PostgresValue {
        array(.textArray, of: .text, elements, BinaryFormat.text)
    }

    public static func byteaArray(_ elements: [[UInt8]?]) -> PostgresValue {
        array(.byteaArray, of: .bytea, elements, BinaryFormat.bytea)
    }

    public static func uuidArray(_ elements: [UUID?]) -> PostgresValue {
        array(.uuidArray, of: .uuid, elements, BinaryFormat.uuid)
    }

    public static func timestamptzArray(_ elements: [PostgresTimestamp?]) -> PostgresValue {
        array(.timestamptzArray, of: .timestamptz, elements, BinaryFormat.timestamp)
    }
}
