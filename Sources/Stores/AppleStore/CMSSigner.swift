import RelayCore

/// One SignerInfo of a PKCS#7 / CMS SignedData (RFC 5652, section 5.3), not verified.
public struct CMSSigner: Sendable, Hashable {
    /// How the signer's certificate is named.
    public enum Identifier: Sendable, Hashable {
        /// The issuer's name, encoded as in the certificate, and the contents octets of the serial number.
        case issuerAndSerialNumber(issuer: ArraySlice<UInt8>, serialNumber: ArraySlice<UInt8>)
        case subjectKeyIdentifier(ArraySlice<UInt8>)
    }

    public let identifier: Identifier
    /// Hash to verify with: Apple's signature algorithm is plain `rsaEncryption`, which names no hash.
    public let digestAlgorithm: OID
    public let signatureAlgorithm: OID
    public let signature: ArraySlice<UInt8>
    /// Nil in every App Store receipt seen: there the signature is over the payload itself.
    public let signedAttributes: CMSSignedAttributes?
}

extension CMSSigner {
    init(_ document: BERDocument, _ element: BERElement) throws(BERError) {
        guard element.identifier == BERTag.sequence else { throw .unexpectedElement }
        var fields = element.children
        _ = try document.next(&fields, BERTag.integer)
        identifier = try Self.identifier(document, &fields)
        digestAlgorithm = try Self.algorithm(document, &fields)
        signedAttributes = try document.nextIfPresent(&fields, BERTag.context(0)).map {
            (attributes) throws(BERError) in try CMSSignedAttributes(document, attributes)
        }
        signatureAlgorithm = try Self.algorithm(document, &fields)
        guard let signature = try document.next(&fields) else { throw .unexpectedElement }
        self.signature = try document.octets(signature).bytes
    }

    private static func identifier(
        _ document: BERDocument, _ fields: inout BERCursor
    ) throws(BERError) -> Identifier {
        guard let element = try document.next(&fields) else { throw .unexpectedElement }
        let keyIdentifier: UInt8 = 0x80
        if element.identifier & ~BERTag.constructedBit == keyIdentifier {
            return .subjectKeyIdentifier(try document.octets(element, keyIdentifier).bytes)
        }
        guard element.identifier == BERTag.sequence else { throw .unexpectedElement }
        var name = element.children
        let issuer = try document.next(&name, BERTag.sequence)
        let serialNumber = try document.next(&name, BERTag.integer)
        return .issuerAndSerialNumber(
            issuer: document.bytes[issuer.encoded], serialNumber: document.bytes[serialNumber.contents])
    }

    /// The object identifier of an AlgorithmIdentifier; the parameters of RSA and of the hashes are NULL or absent.
    private static func algorithm(_ document: BERDocument, _ fields: inout BERCursor) throws(BERError) -> OID {
        var algorithm = try document.next(&fields, BERTag.sequence).children
        let identifier = try document.next(&algorithm, BERTag.objectIdentifier)
        return OID(contents: document.bytes[identifier.contents])
    }
}

extension CMSSignedAttributes {
    init(_ document: BERDocument, _ element: BERElement) throws(BERError) {
        var octets = Array(document.bytes[element.encoded])
        octets[0] = BERTag.set
        signedOctets = octets

        var digests: [ArraySlice<UInt8>] = []
        var types: [OID] = []
        var attributes = element.children
        while let attribute = try document.next(&attributes) {
            guard attribute.identifier == BERTag.sequence else { throw .unexpectedElement }
            var fields = attribute.children
            let type = try document.next(&fields, BERTag.objectIdentifier)
            var values = try document.next(&fields, BERTag.set).children
            while let value = try document.next(&values) {
                switch OID(contents: document.bytes[type.contents]) {
                case .messageDigest: digests.append(try document.octets(value).bytes)
                case .contentType where value.identifier == BERTag.objectIdentifier:
                    types.append(OID(contents: document.bytes[value.contents]))
                default: break
                }
            }
        }
        messageDigest = digests.count == 1 ? digests[0] : nil
        contentType = types.count == 1 ? types[0] : nil
    }
}

/// The signed attributes of a CMS signer. If they exist, the signature covers them, and they contain the digest of the
/// content (RFC 5652, section 5.4).
public struct CMSSignedAttributes: Sendable, Hashable {
    /// The signed octets: the attributes unchanged, under the tag SET OF in place of `[0]`.
    ///
    /// RFC 5652 requires a signature over the DER encoding. Attributes in another encoding therefore fail verification,
    /// as they should.
    public let signedOctets: [UInt8]
    /// Value of `messageDigest`, which must equal the digest of the payload. Nil if missing or repeated.
    public let messageDigest: ArraySlice<UInt8>?
    /// Value of `contentType`, which must equal that of the content. Nil if missing or repeated.
    public let contentType: OID?
}
