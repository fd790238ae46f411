import RelayCore

/// One SignerInfo of a PKCS#7 / CMS SignedData (RFC 5652, section 5.3), as it was found.
public struct CMSSigner: Sendable, Hashable {
    /// How the signer's certificate is named.
    public enum Identifier: Sendable, Hashable {
        /// The issuer's name, encoded as in the certificate, and the contents octets of the serial number.
        case issuerAndSerialNumber(issuer: ArraySlice<UInt8>, serialNumber: ArraySlice<UInt8>)
        case subjectKeyIdentifier(ArraySlice<UInt8>)
    }

    public let identifier: Identifier
    /// The hash to verify with: Apple's signature algorithm is the plain `rsaEncryption` that names none.
    public let digestAlgorithm: OID
    public let signatureAlgorithm: OID
    public let signature: ArraySlice<UInt8>
    /// Nil in every App Store receipt seen: there the signature is over the payload itself.
    public let signedAttributes: CMSSignedAttributes?
}
