import Crypto

extension CompactJWS {
    /// Of its content, for one that names itself by nothing else.
    var fingerprint: String {
        SHA256.hash(data: payload).map { byte in
            let text = String(byte, radix: 16)
            return text.count == 1 ? "0\(text)" : text
        }.joined()
    }
}
