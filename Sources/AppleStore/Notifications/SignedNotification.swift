/// A version 2 notification, with what is signed inside it: read, not verified.
public struct SignedNotification: Sendable, Hashable {
    public let jws: CompactJWS
    public let payload: NotificationPayload
    public let transaction: SignedTransaction?
    public let renewal: SignedRenewal?

    /// - Parameter signedPayload: as it stands in the body.
    /// - Throws: ``ReceiptReadError`` where it, or what is signed in it, is no JWS.
    public init(_ signedPayload: String) throws(ReceiptReadError) {
        jws = try CompactJWS(signedPayload)
        guard let payload = try? StoreJSON.decode(NotificationPayload.self, from: jws.payload) else {
            throw .malformedJWS
        }
        self.payload = payload
        transaction = try payload.data?.signedTransactionInfo.map { (text) throws(ReceiptReadError) in
            try SignedTransaction(CompactJWS(text))
        }
        renewal = try payload.data?.signedRenewalInfo.map { (text) throws(ReceiptReadError) in
            try SignedRenewal(text)
        }
    }
}
