/// The signed attributes of a CMS signer; where they exist the signature is over them, and they over the content
/// (RFC 5652, section 5.4).
public struct CMSSignedAttributes: Sendable, Hashable {
    /// The octets that are signed: the attributes as they came, under the tag SET OF in place of `[0]`.
    ///
    /// RFC 5652 signs the DER encoding. Attributes that came in another encoding do not verify, and are rightly refused.
    public let signedOctets: [UInt8]
    /// The value of `messageDigest`, which must equal the digest of the payload. Nil where it is missing or doubled.
    public let messageDigest: ArraySlice<UInt8>?
    /// The value of `contentType`, which must equal that of the content. Nil where it is missing or doubled.
    public let contentType: OID?
}
