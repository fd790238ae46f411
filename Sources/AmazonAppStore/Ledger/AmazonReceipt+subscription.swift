public import RelayCore
public import StoreAPI

extension AmazonReceipt {
    /// The same in the words that all stores share. Amazon has no word for how a purchase stands: it follows from the dates.
    ///
    /// | type | dates | state |
    /// | --- | --- | --- |
    /// | `SUBSCRIPTION` | `cancelDate` | expired |
    /// | | `gracePeriodEndDate` to come, `renewalDate` gone by | in grace |
    /// | | `autoRenewing` false | canceled |
    /// | | else | active |
    /// | `ENTITLED` | `cancelDate` | revoked |
    /// | | else | active |
    ///
    /// - Parameter readAt: when Amazon was asked.
    public func subscription(readAt: Timestamp) -> StoreSubscription {
        let kind: StoreSubscription.Kind =
            switch productType {
            case "ENTITLED": .oneTime
            case "CONSUMABLE": .consumable
            // What is new, and has an end, is one too.
            case "SUBSCRIPTION": .subscription
            default: renewalDate == nil ? .oneTime : .subscription
            }
        let state = state(kind, readAt)
        var item = StoreSubscription.Item(productID: productID)
        // By the month or by the year: what Google calls a base plan.
        item.basePlanID = termSKU
        item.orderID = TransactionID(receiptID)
        if kind == .subscription {
            item.expiresAt = end(state)
            item.autoRenews = state == .expired ? false : autoRenewing
            item.nextProductID = state == .expired ? nil : ProductID(deferredSKU)
            item.isTrial = freeTrialEndDate.map { $0 > min(readAt, item.expiresAt ?? readAt) } ?? false
            item.isIntro = runningPromotions.contains { $0.hasPrefix("Introductory") }
        }
        var purchase = StoreSubscription(
            .amazon, kind, key: TransactionID(receiptID), items: [item], state: state, rawState: productType,
            isTest: isTestTransaction || isBetaProduct, readAt: readAt)
        purchase.firstPurchasedAt = purchaseDate
        if state == .inGrace { (purchase.graceUntil, purchase.paidUntil) = (gracePeriodEndDate, renewalDate) }
        purchase.cancellation = cancellation(state)
        return purchase
    }

    private func state(_ kind: StoreSubscription.Kind, _ now: Timestamp) -> StoreState {
        if let cancelDate, cancelDate <= now { return kind == .subscription ? .expired : .revoked }
        guard kind == .subscription else { return .active }
        if let gracePeriodEndDate, gracePeriodEndDate > now, renewalDate.map({ $0 <= now }) ?? true { return .inGrace }
        return autoRenewing == false || cancelDate != nil ? .canceled : .active
    }

    private func end(_ state: StoreState) -> Timestamp? {
        switch state {
        case .inGrace: gracePeriodEndDate
        default: cancelDate ?? renewalDate
        }
    }

    private func cancellation(_ state: StoreState) -> StoreCancellation? {
        guard state == .canceled || state == .expired || state == .revoked else { return nil }
        let reason: StoreCancellation.Reason =
            switch cancelReason {
            case 1: .customer
            case 2: .system
            case 4: .replaced
            // Renewal can be turned off by the customer alone.
            case nil where state == .canceled: .customer
            default: .unknown
            }
        return StoreCancellation(reason, at: cancelDate)
    }
}
