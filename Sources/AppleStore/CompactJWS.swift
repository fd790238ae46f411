import Formats

/// A JSON Web Signature in compact form (RFC 7515, section 7.1), taken apart. Nothing here has been verified.
public struct CompactJWS: Sendable, Hashable {
    /// The first two segments and the dot between them, as they came: the octets that are signed (RFC 7515, 5.2).
    public let signingInput: [UInt8]
    public let header: JWSHeader
    /// The payload without its base64url. Fields that no type here names are still in it.
    public let payload: [UInt8]
    /// Empty for an unsigned one.
    public let signature: [UInt8]

    /// - Parameter text: three segments in strict base64url, nothing around them.
    /// - Throws: ``ReceiptReadError/malformedJWS``, ``ReceiptReadError/tooLarge``.
    public init(_ text: [UInt8]) throws(ReceiptReadError) {
        guard text.count <= ReceiptLimits.jwsBytes else { throw .tooLarge }
        let dot = UInt8(ascii: ".")
        // One more than three would be a JWS of another kind (encrypted ones have five).
        let segments = text.split(separator: dot, maxSplits: 3, omittingEmptySubsequences: false)
        guard segments.count == 3, !segments[0].isEmpty, !segments[1].isEmpty,
            let header = Base64.decode(segments[0], .urlSafe),
            let payload = Base64.decode(segments[1], .urlSafe),
            let signature = Base64.decode(segments[2], .urlSafe)
        else { throw .malformedJWS }
        self.header = try JWSHeader(json: header)
        self.payload = payload
        self.signature = signature
        signingInput = Array(text[..<segments[1].endIndex])
    }

    public init(_ text: some StringProtocol) throws(ReceiptReadError) {
        guard text.utf8.count <= ReceiptLimits.jwsBytes else { throw .tooLarge }
        try self.init(Array(text.utf8))
    }
}
