import Crypto

/// Digests as text: lower-case hexadecimal digits.
enum HexDigest {
    static func sha256(_ bytes: UnsafeRawBufferPointer) -> String {
        SHA256.hash(data: bytes).map { byte in
            let digits = String(byte, radix: 16)
            return digits.utf8.count == 1 ? "0" + digits : digits
        }.joined()
    }
}
