/// The header of a JWS signed by Apple (App Store Server API, `JWSDecodedHeader`).
public struct JWSHeader: Sendable, Hashable {
    /// `alg`; Apple signs with `ES256` only. Nil where it is missing.
    public let algorithm: String?
    /// `x5c`: certificates in DER, leaf first. Empty where it is missing.
    public let certificates: [[UInt8]]
    /// `kid`; Xcode writes `Apple_Xcode_Key`.
    public let keyId: String?
    /// `typ`
    public let type: String?
}
