import Crypto
import X509

extension CompactJWS {
    /// Whether the App Store signed exactly this. Apple's own rule: ES256 and nothing else, three certificates in order, a
    /// root that is pinned and not believed, certificates judged at the moment of signing.
    ///
    /// Source: apple/app-store-server-library-swift, `ChainVerifier`; RFC 7515, section 5.2.
    ///
    /// - Parameter signedDate: as the payload says it, `receiptCreationDate` in an app transaction.
    /// - Throws: ``NotGenuine``.
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
