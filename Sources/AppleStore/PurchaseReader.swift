public import RelayCore

/// Reads what an app sends as its receipt. Verifies nothing.
public enum PurchaseReader {
    /// The purchase that a receipt speaks of.
    ///
    /// Of an app receipt with several subscriptions, the one that holds `transactionId` counts (as transaction id or
    /// original transaction id of an entry), else the uncancelled one that runs longest, else the newest purchase.
    /// Of the subscription, the entry that runs longest speaks, not the one that the app named: the app may be
    /// restoring an old one.
    ///
    /// - Parameters:
    ///   - receiptData: exactly what the app sent: base64 of an app receipt or of a transaction receipt (standard or
    ///     URL-safe, line breaks allowed, padding optional), or a compact JWS.
    ///   - transactionId: the transaction id that the app sent beside it; matched, never trusted.
    /// - Throws: ``ReceiptReadError``.
    public static func read(_ receiptData: String, transactionId: TransactionID) throws(ReceiptReadError)
        -> ReadPurchase
    {
        try read(ReceiptData(receiptData), transactionId: transactionId)
    }

    /// The same of data already freed of its base64, for callers that keep the bytes.
    public static func read(_ data: ReceiptData, transactionId: TransactionID) throws(ReceiptReadError) -> ReadPurchase
    {
        try read(PurchaseDocument(data), transactionId: transactionId)
    }

    /// The same of a document already read.
    public static func read(
        _ document: PurchaseDocument, transactionId: TransactionID
    ) throws(ReceiptReadError) -> ReadPurchase {
        switch document {
        case .appReceipt(let signed):
            let receipt = signed.receipt
            let choice = PurchaseChoice(
                receipt.inAppPurchases.lazy.map { PurchaseEntry($0) }, transactionId: transactionId)
            guard let entry = choice.entry else { throw .noInAppPurchase }
            return ReadPurchase(
                format: .appReceipt, environment: receipt.environment, bundleId: receipt.bundleId,
                issuedDate: receipt.creationDate, entry: entry, isNamed: choice.isNamed,
                subscriptions: choice.subscriptions, document: document)
        case .transactionReceipt(let receipt):
            let entry = PurchaseEntry(receipt)
            guard entry.transactionId != nil || entry.originalTransactionId != nil else { throw .noInAppPurchase }
            return ReadPurchase(
                format: .transactionReceipt, environment: receipt.environment, bundleId: receipt.bundleId,
                issuedDate: nil, entry: entry, isNamed: entry.isNamed(transactionId),
                subscriptions: [entry].filter { $0.expiresDate != nil },
                document: document)
        case .signedTransaction(let transaction):
            let payload = transaction.payload
            let entry = PurchaseEntry(payload)
            return ReadPurchase(
                format: .signedTransaction, environment: payload.environment, bundleId: payload.bundleId,
                issuedDate: payload.signedDate, entry: entry, isNamed: entry.isNamed(transactionId),
                subscriptions: [entry].filter { $0.expiresDate != nil },
                document: document)
        }
    }
}

extension PurchaseEntry {
    fileprivate func isNamed(_ id: TransactionID) -> Bool { transactionId == id || originalTransactionId == id }
}
