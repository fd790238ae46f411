import AppleStore
import RelayCore

/// The purchase that a client asked about, as its store has it.
struct ValidatedTransaction: Sendable {
    /// The bundle id or package name; nil where nobody says.
    var app: BundleID?
    var productID: ProductID?
    var transactionID: TransactionID?
    var originalTransactionID: TransactionID?
    var environment: StoreEnvironment

    init(_ receipt: ReadReceipt) {
        app = receipt.bundleID
        productID = receipt.productID
        transactionID = receipt.transactionID
        originalTransactionID = receipt.purchase?.originalTransactionId
        environment = receipt.environment
    }

    init(_ receipt: StoreReceipt, _ found: ExternalSubscription) {
        productID = found.productID
        environment = found.environment
        switch receipt {
        case .google(let receipt):
            app = receipt.packageName
            transactionID = found.word.periods.lazy.compactMap(\.transactionID).first ?? TransactionID(receipt.orderId)
        case .amazon(let receipt): transactionID = TransactionID(receipt.receiptId)
        }
    }
}
