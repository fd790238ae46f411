/// How Cleeng says what came of a purchase.
enum SynchronizationResult: String, Sendable {
    /// A subscription was made. Cleeng's own word for it is not published.
    case registered = "PURCHASE_REGISTERED"
    case transferred = "PURCHASE_OWNERSHIP_TRANSFERRED"
    /// It belongs to whom it belonged to before, whoever asked.
    case unchanged = "PURCHASE_OWNERSHIP_UNCHANGED"
    case expired = "RECEIVED_EXPIRED_PURCHASE"
    case transactionNotFound = "TRANSACTION_ID_NOT_FOUND"
}
