public import RelayCore

/// Content of a receipt: the purchase that counts, and the others. Nothing is verified.
public struct ReadPurchase: Sendable, Hashable {
    public let environment: AppleEnvironment
    public let bundleId: BundleID?
    /// When the store issued the document: the receipt's creation date, or the transaction's `signedDate`. Nil for a
    /// transaction receipt, which has neither. A receipt is a snapshot of that time and lacks later renewals.
    public let issuedDate: AppleTimestamp?
    /// The purchase that counts.
    public let entry: PurchaseEntry
    /// Whether the document contains the purchase that the app named. ``entry`` is then of the same subscription.
    public let isNamed: Bool
    /// The entry that counts for each subscription in the receipt, by original transaction id, or by product without
    /// one. Uncancelled and longest-running ones come first. Cancelled and expired ones are included.
    public let subscriptions: [PurchaseEntry]
    /// The whole document, including what verification needs.
    public let document: PurchaseDocument

    /// Chooses the purchase that counts.
    ///
    /// An app receipt may hold several subscriptions. The one that contains `transactionId`, as transaction id or
    /// original transaction id, counts. Else the longest-running uncancelled one counts; else the newest purchase.
    ///
    /// Within the subscription the longest-running entry counts, even if the app named another: it may be restoring an
    /// old one.
    ///
    /// - Parameter transactionId: the transaction id that the app sent with the receipt; matched, never trusted.
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
    /// Key of the subscription; nil if the app's own transaction id is the key.
    public var originalTransactionId: TransactionID? { entry.originalTransactionId }
    public var transactionId: TransactionID? { entry.transactionId }
    public var productId: ProductID? { entry.productId }
}

extension ReadPurchase {
    /// The counting purchase as ledger periods, as of the time of issue: several for an Advanced Commerce purchase.
    /// Empty for a consumable, and if required fields are missing.
    public var ledgerPeriods: [LedgerPeriod] { ledgerPeriods(of: entry) }

    /// Ledger periods of each subscription in the receipt, and of the purchase that counts, by original transaction id.
    public var periodsBySubscription: [TransactionID: [LedgerPeriod]] {
        var periods: [TransactionID: [LedgerPeriod]] = [:]
        for one in subscriptions + [entry] {
            let found = ledgerPeriods(of: one)
            if let id = one.originalTransactionId, !found.isEmpty { periods[id] = found }
        }
        return periods
    }

    func ledgerPeriods(of entry: PurchaseEntry) -> [LedgerPeriod] {
        if case .signedTransaction(let transaction) = document { return transaction.payload.ledgerPeriods() }
        return ledgerPeriod(of: entry).map { [$0] } ?? []
    }

    private func ledgerPeriod(of entry: PurchaseEntry) -> LedgerPeriod? {
        guard entry.kind != .consumable, entry.originalTransactionId != nil, let product = entry.productId,
            let purchased = entry.purchaseDate?.moment, let statedAt = (issuedDate ?? entry.purchaseDate)?.moment,
            let id = entry.expiresDate == nil
                ? entry.originalTransactionId : entry.webOrderLineItemId ?? entry.transactionId
        else { return nil }
        // A receipt does not mark upgrades, so they too count as refunds. The successor of an upgrade counts anyway.
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
    /// Each subscription, pass and permanent purchase, with its ledger period. Call this on a verified receipt only.
    public func externalSubscriptions(atMost limit: Int) -> [ExternalSubscription] {
        lasting.prefix(limit).compactMap { entry in
            let periods = ledgerPeriods(of: entry)
            guard let key = entry.originalTransactionId, !environment.name.isEmpty, !periods.isEmpty else {
                return nil
            }
            return ExternalSubscription(
                key: key, environment: environment.name, statement: LedgerStatement(periods: periods),
                bundleID: bundleId)
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
