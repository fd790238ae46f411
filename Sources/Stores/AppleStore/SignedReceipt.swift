/// An app receipt in its PKCS#7 envelope (CMS SignedData, RFC 5652): its content, and what verification needs.
///
/// Nothing is verified.
public struct SignedReceipt: Sendable, Hashable {
    /// The decoded payload.
    public let receipt: AppReceipt
    /// The signed octets, in one piece. Without signed attributes, the signature covers exactly these.
    public let payload: ArraySlice<UInt8>
    /// Declared content type; App Store receipts use `id-data`.
    public let contentType: OID
    /// Certificates in the receipt, DER each, in their original order. The signer names the one that signed.
    public let certificates: [ArraySlice<UInt8>]
    /// App Store receipts have exactly one.
    public let signers: [CMSSigner]
}

extension SignedReceipt {
    /// Reads BER or DER, indefinite lengths and divided strings (Xcode writes both) included.
    ///
    /// - Throws: ``ReceiptReadError/notPKCS7`` for a malformed envelope, ``ReceiptReadError/malformedPayload`` for a
    ///   malformed content, ``ReceiptReadError/tooLarge``.
    public init(berEncoded bytes: [UInt8]) throws(ReceiptReadError) {
        guard bytes.count <= ReceiptLimits.textBytes else { throw .tooLarge }
        let envelope: Envelope
        do {
            envelope = try Envelope(BERDocument(bytes: bytes))
        } catch {
            throw error == .limitExceeded ? .tooLarge : .notPKCS7
        }
        do {
            receipt = try AppReceipt(envelope.payload)
        } catch {
            throw error == .limitExceeded ? .tooLarge : .malformedPayload
        }
        payload = envelope.payload.bytes
        contentType = envelope.contentType
        certificates = envelope.certificates
        signers = envelope.signers
    }

    private struct Envelope {
        let payload: BEROctets
        let contentType: OID
        let certificates: [ArraySlice<UInt8>]
        let signers: [CMSSigner]

        init(_ document: BERDocument) throws(BERError) {
            var contentInfo = try document.only(document.root, BERTag.sequence).children
            let type = try document.next(&contentInfo, BERTag.objectIdentifier)
            guard OID(contents: document.bytes[type.contents]) == .signedData else { throw .unexpectedElement }
            let content = try document.next(&contentInfo, BERTag.context(0))
            var fields = try document.only(content.children, BERTag.sequence).children

            _ = try document.next(&fields, BERTag.integer)
            _ = try document.next(&fields, BERTag.set)
            var encapsulated = try document.next(&fields, BERTag.sequence).children
            contentType = OID(
                contents: document.bytes[try document.next(&encapsulated, BERTag.objectIdentifier).contents])
            // A detached signature has no content, but a receipt always contains its own.
            let explicit = try document.next(&encapsulated, BERTag.context(0))
            var octets = explicit.children
            guard let string = try document.next(&octets), octets.isAtEnd else { throw .unexpectedElement }
            payload = try document.octets(string)

            certificates = try Self.certificates(document, &fields)
            _ = try document.nextIfPresent(&fields, BERTag.context(1))
            signers = try Self.signers(document, try document.next(&fields, BERTag.set))
        }

        private static func certificates(
            _ document: BERDocument, _ fields: inout BERCursor
        ) throws(BERError) -> [ArraySlice<UInt8>] {
            guard let bag = try document.nextIfPresent(&fields, BERTag.context(0)) else { return [] }
            var certificates: [ArraySlice<UInt8>] = []
            var cursor = bag.children
            while let element = try document.next(&cursor) {
                // Attribute certificates and other formats have their own tags; none of them signs a receipt.
                guard element.identifier == BERTag.sequence else { continue }
                guard certificates.count < ReceiptLimits.certificates,
                    element.encoded.count <= ReceiptLimits.certificateBytes
                else { throw .limitExceeded }
                certificates.append(document.bytes[element.encoded])
            }
            return certificates
        }

        private static func signers(_ document: BERDocument, _ set: BERElement) throws(BERError) -> [CMSSigner] {
            var signers: [CMSSigner] = []
            var cursor = set.children
            while let element = try document.next(&cursor) {
                guard signers.count < ReceiptLimits.signers, element.encoded.count <= ReceiptLimits.signerBytes
                else { throw .limitExceeded }
                signers.append(try CMSSigner(document, element))
            }
            return signers
        }
    }
}
