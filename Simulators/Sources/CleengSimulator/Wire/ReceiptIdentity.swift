/// Reads which subscription a receipt belongs to.
struct ReceiptIdentity: Sendable {
    /// - Parameters: the receipt's text (base64 app receipt, or a signed transaction), and the transaction id that was
    ///   sent with it, which selects one of several subscriptions.
    /// - Returns: the original transaction id, or nil where the receipt cannot be read.
    let read: @Sendable (_ receiptData: String, _ transactionId: String) -> String?

    /// Reads app receipts and signed transactions. Verifies nothing: test receipts are not Apple's.
    static let appleStore = ReceiptIdentity { receiptData, transactionId in
        ReceiptEntry.read(receiptData).choice(transactionId)?.originalTransactionId
    }
}
