/// A private value as its row has it: the column, and what the row says of it. Statements select it as `ROW(t.sealed_by, t.column)`.
///
/// Such a pair is no text and no bytes, and ``PostgresRow/get(_:as:)-(Int,_)`` refuses the bare column: a reader that forgets to open it
/// fails the first time it runs, in every database, sealed or not.
public struct KeyedValue {
    /// The key that the value is sealed by; 0 where it is stored as it is. Nil in a row whose writer did not say.
    public let sealedBy: Int32?
    public let stored: PostgresBinary

    /// Reads the binary form of a row of two columns (`record_send`).
    ///
    /// - Throws: ``PostgresError/Code/decoding``.
    public init(_ value: PostgresBinary) throws {
        var rest = try value.bytes(of: .record)
        func take(_ count: Int) throws -> UnsafeRawBufferPointer {
            guard count >= 0, rest.count >= count else { throw PostgresError(.decoding, "the row is cut short") }
            defer { rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count)) }
            return UnsafeRawBufferPointer(rebasing: rest.prefix(count))
        }
        func integer() throws -> Int32 { Int32(bigEndian: try take(4).loadUnaligned(as: Int32.self)) }
        func field() throws -> PostgresBinary {
            let type = PostgresType(rawValue: UInt32(bitPattern: try integer()))
            let count = try integer()
            return PostgresBinary(type: type, bytes: count < 0 ? nil : try take(Int(count)))
        }
        guard try integer() == 2 else { throw PostgresError(.decoding, "not a key and a value") }
        sealedBy = try Int32?.decode(try field())
        stored = try field()
    }
}
