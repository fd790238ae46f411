import Crypto
import Formats
import RelayCore
import X509

/// A parsed JSON Web Signature in compact form (RFC 7515, section 7.1). Nothing is verified.
public struct CompactJWS: Sendable, Hashable {
    /// The first two segments and the dot between them, unchanged: the signed octets (RFC 7515, 5.2).
    public let signingInput: [UInt8]
    public let header: JWSHeader
    /// The decoded payload. It also holds the fields that no type here reads.
    public let payload: [UInt8]
    /// Empty if unsigned.
    public let signature: [UInt8]

    /// - Parameter text: three segments in strict base64url, without surrounding white space.
    /// - Throws: ``ReceiptReadError/malformedJWS``, ``ReceiptReadError/tooLarge``.
    public init(_ text: [UInt8]) throws(ReceiptReadError) {
        guard text.count <= ReceiptLimits.jwsBytes else { throw .tooLarge }
        let dot = UInt8(ascii: ".")
        // Splits into at most four: a fourth segment means another kind of JWS (encrypted ones have five).
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

/// The header of a JWS signed by Apple (App Store Server API, `JWSDecodedHeader`).
public struct JWSHeader: Sendable, Hashable {
    /// `alg`; Apple signs with `ES256` only. Nil if missing.
    public let algorithm: String?
    /// `x5c`: certificates in DER, leaf first. Empty if missing.
    public let certificates: [[UInt8]]
}

extension JWSHeader {
    private struct Fields: Decodable {
        let alg: String?
        let x5c: [String]?
    }

    init(json: [UInt8]) throws(ReceiptReadError) {
        guard let fields = try? StoreJSON.decode(Fields.self, from: json),
            fields.x5c?.count ?? 0 <= ReceiptLimits.certificates
        else { throw .malformedJWS }
        var certificates: [[UInt8]] = []
        for text in fields.x5c ?? [] {
            guard let certificate = ReceiptData.decode(text), certificate.count <= ReceiptLimits.certificateBytes
            else { throw .malformedJWS }
            certificates.append(certificate)
        }
        self.certificates = certificates
        algorithm = fields.alg.flatMap(StoreText.text)
    }
}

extension CompactJWS {
    /// Verifies that the App Store signed exactly this text. Apple's rules: ES256 only, three certificates in order, a
    /// pinned root, certificates valid at the time of signing.
    ///
    /// Source: apple/app-store-server-library-swift, `ChainVerifier`; RFC 7515, section 5.2.
    ///
    /// - Parameter signedDate: from the payload; `receiptCreationDate` in an app transaction.
    public func verify(_ trust: ChainOfTrust, signedDate: AppleTimestamp?) async throws(NotGenuine) -> Genuine {
        guard header.algorithm == "ES256" else { throw NotGenuine(.algorithm, "it is not signed with ES256") }
        guard !signature.isEmpty else { throw NotGenuine(.unsigned, "it has no signature") }
        guard !header.certificates.isEmpty else {
            throw NotGenuine(.certificates, "it carries no certificates")
        }
        guard let signedDate else { throw NotGenuine(.noDate, "it does not say when it was signed") }
        let signer = try await trust.signer(
            header.certificates.map { $0[...] }, named: nil, at: signedDate)
        guard let key = P256.Signing.PublicKey(signer.key),
            let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature)
        else { throw NotGenuine(.signature, "key or signature are not of the form that ES256 has") }
        guard key.isValidSignature(signature, for: SHA256.hash(data: signingInput)) else {
            throw NotGenuine(.signature, "the signature is not over this content")
        }
        trust.remember(signer)
        return Genuine(isLocal: signer.isLocal)
    }
}

extension CompactJWS {
    /// Digest of the content, used as the key of a notification without an id.
    var fingerprint: String { Hex.text(of: Array(SHA256.hash(data: payload))) }
}
