import RelayCore

extension PurchaseEntry {
    /// Whether this entry says more about what the customer has than the other: an uncancelled subscription before
    /// all else, of two such the one that runs longer, of all others the newer purchase.
    ///
    /// Ties are broken down to the ids, so that the order of a receipt's entries, which means nothing, decides nothing.
    func counts(before other: PurchaseEntry) -> Bool {
        if isUncancelledSubscription != other.isUncancelledSubscription { return isUncancelledSubscription }
        if isUncancelledSubscription, expiresDate != other.expiresDate {
            return Self.isLater(expiresDate, other.expiresDate)
        }
        if purchaseDate != other.purchaseDate { return Self.isLater(purchaseDate, other.purchaseDate) }
        if expiresDate != other.expiresDate { return Self.isLater(expiresDate, other.expiresDate) }
        if isCancelled != other.isCancelled { return isCancelled }
        if cancellationDate != other.cancellationDate { return Self.isLater(cancellationDate, other.cancellationDate) }
        if transactionId != other.transactionId {
            return Self.isGreater(transactionId ?? "", other.transactionId ?? "")
        }
        if originalTransactionId != other.originalTransactionId {
            return Self.isGreater(originalTransactionId ?? "", other.originalTransactionId ?? "")
        }
        return productId ?? "" > other.productId ?? ""
    }

    private static func isLater(_ left: AppleTimestamp?, _ right: AppleTimestamp?) -> Bool {
        guard let left else { return false }
        guard let right else { return true }
        return left > right
    }

    /// Numbers written as text, of any length.
    private static func isGreater(_ left: TransactionID, _ right: TransactionID) -> Bool {
        let (leftLength, rightLength) = (left.utf8.count, right.utf8.count)
        return leftLength == rightLength ? left > right : leftLength > rightLength
    }
}
