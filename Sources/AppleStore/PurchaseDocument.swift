/// Any of the three things that an app may send as its receipt, read but not verified.
public enum PurchaseDocument: Sendable, Hashable {
    case appReceipt(SignedReceipt)
    case transactionReceipt(TransactionReceipt)
    case signedTransaction(SignedTransaction)

    /// Tells by the bytes which it is, and reads it. An app receipt without any purchase is a good document.
    ///
    /// - Throws: ``ReceiptReadError``.
    public init(_ data: ReceiptData) throws(ReceiptReadError) {
        switch data {
        case .compactJWS(let text):
            self = .signedTransaction(try Self.transaction(CompactJWS(text)))
        case .binary(let bytes):
            // A property list opens with a brace, where a PKCS#7 has the tag of a SEQUENCE.
            if bytes.first(where: { $0 > 0x20 }) == UInt8(ascii: "{") {
                self = .transactionReceipt(try TransactionReceipt(propertyList: bytes))
            } else {
                self = .appReceipt(try SignedReceipt(berEncoded: bytes))
            }
        }
    }

    /// Apple signs other things in the same form; only a transaction has a transaction id.
    private static func transaction(_ jws: CompactJWS) throws(ReceiptReadError) -> SignedTransaction {
        let transaction = try SignedTransaction(jws)
        guard transaction.payload.transactionId == nil else { return transaction }
        let other = try? StoreJSON.decode(OtherPayload.self, from: jws.payload)
        throw other?.receiptType == nil ? .notATransaction : .appTransaction
    }

    private struct OtherPayload: Decodable {
        /// The environment, as an app transaction (and nothing else) calls it.
        let receiptType: String?
    }
}
