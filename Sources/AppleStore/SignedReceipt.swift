/// An app receipt in its PKCS#7 envelope (CMS SignedData, RFC 5652): what it says, and all that verifying it takes.
///
/// Nothing here has been verified.
public struct SignedReceipt: Sendable, Hashable {
    /// What the payload says.
    public let receipt: AppReceipt
    /// The signed octets, in one piece: without signed attributes the signature is over exactly these.
    public let payload: ArraySlice<UInt8>
    /// The declared content type; App Store receipts say `id-data`.
    public let contentType: OID
    /// The certificates it brought along, DER each, in their own order; which one signed is named by the signer.
    public let certificates: [ArraySlice<UInt8>]
    /// App Store receipts have exactly one.
    public let signers: [CMSSigner]
}
