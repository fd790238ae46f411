public import RelayCore

extension ReadPurchase {
    /// What the purchase that counts says of its subscription: a snapshot of when it was issued. Nil for what is used up, and
    /// where it says too little.
    public var ledgerPeriod: LedgerPeriod? { ledgerPeriod(of: entry) }

    /// What it says of each subscription in it, and of the purchase that counts, by original transaction id.
    public var ledgerPeriods: [TransactionID: LedgerPeriod] {
        var periods: [TransactionID: LedgerPeriod] = [:]
        for one in subscriptions + [entry] {
            if let id = one.originalTransactionId, let period = ledgerPeriod(of: one) { periods[id] = period }
        }
        return periods
    }

    func ledgerPeriod(of entry: PurchaseEntry) -> LedgerPeriod? {
        if case .signedTransaction(let transaction) = document { return transaction.payload.ledgerPeriod() }
        guard entry.kind != .consumable, entry.originalTransactionId != nil, let product = entry.productId,
            let purchased = entry.purchaseDate?.moment, let told = (issuedDate ?? entry.purchaseDate)?.moment,
            let id = entry.expiresDate == nil
                ? entry.originalTransactionId : entry.webOrderLineItemId ?? entry.transactionId
        else { return nil }
        // A receipt does not tell a refund from an upgrade; of what was upgraded the successor counts anyway.
        let revocation =
            entry.isCancelled
            ? LedgerPeriod.Revocation(at: entry.cancellationDate?.moment ?? told, kind: .refunded) : nil
        return LedgerPeriod(
            id: id, productID: product, purchasedAt: purchased, expiresAt: entry.expiresDate?.end,
            revocation: revocation, toldAt: told, transactionID: entry.transactionId,
            originalPurchasedAt: entry.originalPurchaseDate?.moment, isTrial: entry.isTrialPeriod,
            isIntro: entry.isInIntroductoryOfferPeriod, discountID: DiscountID(entry.promotionalOfferId))
    }
}
