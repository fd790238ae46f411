/// A StoreKit 2 transaction signed by Apple (`JWSTransaction`): what it says, and the JWS that verifying it takes.
///
/// Nothing here has been verified.
public struct SignedTransaction: Sendable, Hashable {
    public let jws: CompactJWS
    public let payload: TransactionPayload

    /// - Throws: ``ReceiptReadError/malformedJWS`` where the payload is no JSON object.
    public init(_ jws: CompactJWS) throws(ReceiptReadError) {
        guard let payload = try? StoreJSON.decode(TransactionPayload.self, from: jws.payload) else {
            throw .malformedJWS
        }
        self.jws = jws
        self.payload = payload
    }
}
