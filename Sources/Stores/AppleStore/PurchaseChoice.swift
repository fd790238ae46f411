import RelayCore

/// Chooses which purchase of a receipt counts.
struct PurchaseChoice {
    /// The purchases of one subscription, renewals and plan changes included, share their original transaction id.
    private enum Group: Hashable {
        case originalTransaction(TransactionID)
        /// Without that id (Xcode), the product is the only way to distinguish them.
        case product(ProductID?)

        init(_ entry: PurchaseEntry) {
            self = entry.originalTransactionId.map(Group.originalTransaction) ?? .product(entry.productId)
        }
    }

    /// The purchase that counts; nil if there are no purchases.
    let entry: PurchaseEntry?
    /// Whether the receipt holds the purchase that the app named.
    let isNamed: Bool
    /// The counting entry of each group, if it expires; the longest-running first.
    let subscriptions: [PurchaseEntry]
    /// ``subscriptions``, followed by passes and permanent purchases.
    let lasting: [PurchaseEntry]

    /// - Parameter transactionId: the purchase that the app named. If a group holds it, that group counts.
    init(_ entries: [PurchaseEntry], transactionId: TransactionID) {
        var best: [Group: PurchaseEntry] = [:]
        var holders: Set<Group> = []
        var originalHolder: Group?
        for entry in entries {
            let group = Group(entry)
            if let present = best[group], !entry.counts(before: present) {
                // Keeps the present entry.
            } else {
                best[group] = entry
            }
            if entry.transactionId == transactionId { holders.insert(group) }
            if entry.originalTransactionId == transactionId { originalHolder = group }
        }
        if holders.isEmpty, let originalHolder { holders.insert(originalHolder) }
        isNamed = !holders.isEmpty
        let candidates = holders.isEmpty ? Array(best.values) : holders.compactMap { best[$0] }
        entry = candidates.min { $0.counts(before: $1) }
        lasting = best.values.filter(\.isLasting).sorted { $0.counts(before: $1) }
        subscriptions = lasting.filter { $0.expiresDate != nil }
    }
}
