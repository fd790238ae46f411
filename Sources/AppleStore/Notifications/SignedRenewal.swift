/// Renewal information signed by Apple (`JWSRenewalInfo`). Nothing here has been verified.
public struct SignedRenewal: Sendable, Hashable {
    public let jws: CompactJWS
    public let payload: RenewalPayload

    /// - Throws: ``ReceiptReadError``.
    public init(_ text: String) throws(ReceiptReadError) {
        jws = try CompactJWS(text)
        guard let payload = try? StoreJSON.decode(RenewalPayload.self, from: jws.payload) else { throw .malformedJWS }
        self.payload = payload
    }
}
