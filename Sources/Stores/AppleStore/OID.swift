/// An ASN.1 object identifier, stored as its contents octets, because it is compared and hardly ever printed.
public struct OID: Sendable, Hashable {
    let contents: ArraySlice<UInt8>
}

extension OID {
    private init(_ octets: UInt8...) { self.init(contents: octets[...]) }

    /// 1.2.840.113549.1.7.1, `id-data` (RFC 5652, section 4).
    public static let data = OID(0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x01)
    /// 1.2.840.113549.1.7.2, `id-signedData` (RFC 5652, section 5.1).
    public static let signedData = OID(0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x02)
    /// 1.2.840.113549.1.9.3, the attribute `contentType` (RFC 5652, section 11.1).
    public static let contentType = OID(0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, 0x03)
    /// 1.2.840.113549.1.9.4, the attribute `messageDigest` (RFC 5652, section 11.2).
    public static let messageDigest = OID(0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, 0x04)
    /// 1.3.14.3.2.26, `id-sha1`: receipts until August 2023 (Apple TN3138).
    public static let sha1 = OID(0x2B, 0x0E, 0x03, 0x02, 0x1A)
    /// 2.16.840.1.101.3.4.2.1, `id-sha256`: receipts since August 2023 (Apple TN3138).
    public static let sha256 = OID(0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01)
    /// 1.2.840.113549.1.1.1, `rsaEncryption`: the signature algorithm named in App Store receipts.
    public static let rsaEncryption = OID(0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01)
    /// 1.2.840.113549.1.1.5, `sha1WithRSAEncryption`.
    public static let sha1WithRSAEncryption = OID(0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x05)
    /// 1.2.840.113549.1.1.11, `sha256WithRSAEncryption`: seen in Xcode receipts.
    public static let sha256WithRSAEncryption = OID(0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x0B)
}
