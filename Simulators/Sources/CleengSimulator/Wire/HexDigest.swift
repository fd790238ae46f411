import Crypto

/// Digests as text: lower-case hexadecimal digits.
enum HexDigest {
    static func sha256(_ bytes: UnsafeRawBufferPointer) -> String {
        text(of: SHA256.hash(data: bytes))
    }

    static func text(of digest: some Sequence<UInt8>) -> String {
        digest.map { byte in
            let digits = String(byte, radix: 16)
            return digits.utf8.count == 1 ? "0" + digits : digits
        }.joined()
    }
}
