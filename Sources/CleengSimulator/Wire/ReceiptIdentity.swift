import AppleStore
import RelayCore

/// Reads to which subscription a receipt belongs.
struct ReceiptIdentity: Sendable {
    /// - Parameters: the receipt's text (base64 app receipt, or a signed transaction), and the transaction id that was
    ///   sent with it, which chooses among several subscriptions.
    /// - Returns: the original transaction id, or nil where the receipt cannot be read.
    let read: @Sendable (_ receiptData: String, _ transactionId: String) -> String?

    /// Reads app receipts and signed transactions; verifies nothing, as test receipts are not Apple's.
    static let appleStore = ReceiptIdentity { receiptData, transactionId in
        let purchase = try? PurchaseReader.read(receiptData, transactionId: TransactionID(transactionId))
        return purchase?.originalTransactionId?.text
    }
}
