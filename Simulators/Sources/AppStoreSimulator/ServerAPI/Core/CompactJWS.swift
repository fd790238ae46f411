import Foundation

/// A JSON Web Signature in its compact form (RFC 7515, section 7.1), taken apart.
struct CompactJWS {
    let header: Data
    let payload: Data
    let signature: Data
    /// What the signature is over.
    let signedText: Data

    /// - Returns: nil where it is none.
    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Self.decode(parts[0]), let payload = Self.decode(parts[1]),
            let signature = Self.decode(parts[2])
        else { return nil }
        self.header = header
        self.payload = payload
        self.signature = signature
        signedText = Data("\(parts[0]).\(parts[1])".utf8)
    }

    /// base64url without padding.
    private static func decode(_ text: Substring) -> Data? {
        guard !text.utf8.contains(where: { "+/=".utf8.contains($0) }) else { return nil }
        let standard = text.replacing("-", with: "+").replacing("_", with: "/")
        return Data(base64Encoded: standard + String(repeating: "=", count: (4 - standard.utf8.count % 4) % 4))
    }
}
