import Crypto

/// SHA-256 digests that identify purchases.
enum PurchaseDigest {
    /// Hashes each part after its length, so that no two lists of parts collide.
    static func of(_ texts: [String], identity: [UInt8]) -> [UInt8] {
        var hash = SHA256()
        func add(_ part: UnsafeRawBufferPointer) {
            withUnsafeBytes(of: UInt64(part.count).bigEndian) { hash.update(bufferPointer: $0) }
            hash.update(bufferPointer: part)
        }
        for var text in texts { text.withUTF8 { add(UnsafeRawBufferPointer($0)) } }
        identity.withUnsafeBytes(add)
        return Array(hash.finalize())
    }

    static func of(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
        var hash = SHA256()
        hash.update(bufferPointer: bytes)
        return Array(hash.finalize())
    }
}
