/// A value as the server sent it in its binary form.
public struct PostgresBinary {
    /// The column's type, or the element's in an array.
    public let type: PostgresType
    /// Nil for NULL. Valid only while the value is being decoded: copy what is to be kept.
    public let bytes: UnsafeRawBufferPointer?

    /// The bytes of a value that must be there and be of one of these types.
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

    /// Big-endian, and of exactly the size of `T`.
    func integer<T: FixedWidthInteger>(_ bytes: UnsafeRawBufferPointer, as type: T.Type = T.self) throws -> T {
        guard bytes.count == MemoryLayout<T>.size else {
            throw PostgresError(.decoding, "\(bytes.count) bytes where \(MemoryLayout<T>.size) were expected")
        }
        return T(bigEndian: bytes.loadUnaligned(as: T.self))
    }
}
