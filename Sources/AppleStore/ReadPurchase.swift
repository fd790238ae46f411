public import RelayCore

/// What was read out of a receipt: the purchase that counts, and what stands beside it. Nothing has been verified.
public struct ReadPurchase: Sendable, Hashable {
    public let environment: AppleEnvironment
    public let bundleId: BundleID?
    /// When the store made what was read: the receipt's creation date, the transaction's `signedDate`; nil for a
    /// transaction receipt, which has neither. A receipt is a snapshot of that moment; later renewals are not in it.
    public let issuedDate: AppleTimestamp?
    /// The purchase that counts.
    public let entry: PurchaseEntry
    /// Whether that is the one that the app spoke of; else the receipt does not hold that one.
    public let isNamed: Bool
    /// The entry that counts of each subscription in the receipt, by original transaction id (by product where there
    /// is none), uncancelled and longest-running ones first. Cancelled and expired ones are among them.
    public let subscriptions: [PurchaseEntry]
    /// All that was read, with what verifying it takes.
    public let document: PurchaseDocument

    /// Chooses the purchase that counts.
    ///
    /// An app receipt may hold several subscriptions. The one with an entry that has `transactionId` as transaction id
    /// or original transaction id counts; else the uncancelled one that runs longest; else the newest purchase. Within
    /// the subscription the entry that runs longest counts, not the one that the app named: the app may be restoring an
    /// old one.
    ///
    /// - Parameter transactionId: the transaction id that the app sent beside it; matched, never trusted.
    /// - Throws: ``ReceiptReadError/noInAppPurchase``.
    public init(_ document: PurchaseDocument, transactionId: TransactionID) throws(ReceiptReadError) {
        self.document = document
        switch document {
        case .appReceipt(let signed):
            let receipt = signed.receipt
            let choice = PurchaseChoice(receipt.inAppPurchases, transactionId: transactionId)
            guard let chosen = choice.entry else { throw .noInAppPurchase }
            (environment, bundleId, issuedDate) = (receipt.environment, receipt.bundleId, receipt.creationDate)
            (entry, isNamed, subscriptions) = (chosen, choice.isNamed, choice.subscriptions)
            return
        case .transactionReceipt(let receipt):
            entry = receipt.entry
            guard entry.transactionId != nil || entry.originalTransactionId != nil else { throw .noInAppPurchase }
            (environment, bundleId, issuedDate) = (receipt.environment, receipt.bundleId, nil)
        case .signedTransaction(let transaction):
            let payload = transaction.payload
            entry = PurchaseEntry(payload)
            (environment, bundleId, issuedDate) = (payload.environment, payload.bundleId, payload.signedDate)
        }
        isNamed = entry.transactionId == transactionId || entry.originalTransactionId == transactionId
        subscriptions = [entry].filter { $0.expiresDate != nil }
    }
}

extension ReadPurchase {
    /// See ``PurchaseEntry/originalTransactionId``: nil means that the app's own transaction id must be the key.
    public var originalTransactionId: TransactionID? { entry.originalTransactionId }
    public var transactionId: TransactionID? { entry.transactionId }
    public var productId: ProductID? { entry.productId }
}

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
            let purchased = entry.purchaseDate?.moment, let statedAt = (issuedDate ?? entry.purchaseDate)?.moment,
            let id = entry.expiresDate == nil
                ? entry.originalTransactionId : entry.webOrderLineItemId ?? entry.transactionId
        else { return nil }
        // A receipt does not tell a refund from an upgrade; of what was upgraded the successor counts anyway.
        let revocation =
            entry.isCancelled
            ? LedgerPeriod.Revocation(at: entry.cancellationDate?.moment ?? statedAt, kind: .refunded) : nil
        return LedgerPeriod(
            id: id, productID: product, purchasedAt: purchased, expiresAt: entry.expiresDate?.end,
            revocation: revocation, statedAt: statedAt, transactionID: entry.transactionId,
            originalPurchasedAt: entry.originalPurchaseDate?.moment, isTrial: entry.isTrialPeriod,
            isIntro: entry.isInIntroductoryOfferPeriod, discountID: DiscountID(entry.promotionalOfferId))
    }
}

extension ReadPurchase {
    /// Each subscription, pass and purchase for ever that it holds, with what it says of it. To be asked of a verified one only.
    public func externalSubscriptions(atMost limit: Int) -> [ExternalSubscription] {
        lasting.prefix(limit).compactMap { entry in
            guard let key = entry.originalTransactionId, !environment.name.isEmpty,
                let period = ledgerPeriod(of: entry)
            else { return nil }
            return ExternalSubscription(
                key: key, environment: environment.name, word: LedgerStatement(periods: [period]), bundleID: bundleId)
        }
    }

    private var lasting: [PurchaseEntry] {
        switch document {
        case .appReceipt(let signed):
            PurchaseChoice(signed.receipt.inAppPurchases, transactionId: "").lasting
        case .transactionReceipt, .signedTransaction: [entry].filter(\.isLasting)
        }
    }
}
