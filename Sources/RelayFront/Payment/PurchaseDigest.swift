import Crypto
import RelayCore

/// SHA-256 over parts, each after its length, so that no two lists of parts read the same.
struct PurchaseDigest {
    private var hash = SHA256()

    mutating func add(_ part: String) {
        var part = part
        part.withUTF8 { add(UnsafeRawBufferPointer($0)) }
    }

    mutating func add<Kind>(_ part: Identifier<Kind>) { add(part.text) }

    mutating func add(_ part: [UInt8]) {
        part.withUnsafeBytes { add($0) }
    }

    private mutating func add(_ part: UnsafeRawBufferPointer) {
        withUnsafeBytes(of: UInt64(part.count).bigEndian) { hash.update(bufferPointer: $0) }
        hash.update(bufferPointer: part)
    }

    func finalize() -> [UInt8] {
        Array(hash.finalize())
    }

    static func of(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
        var hash = SHA256()
        hash.update(bufferPointer: bytes)
        return Array(hash.finalize())
    }
}
