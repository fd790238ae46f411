public import RelayCore

extension StoreSubscription {
    /// The purchase as a ledger statement. Nil if it was never paid, if it is a consumable that was not revoked, or if
    /// required fields are missing. A subscription with an unknown end must not count as one without an end.
    ///
    /// Stores report only one period, the current or the last one, and the start of the first. So `purchasedAt` is the
    /// same for all periods.
    ///
    /// | state | period's end | renewal | over |
    /// | --- | --- | --- | --- |
    /// | active, unknown | as stated | as stated | once that end is past, if it will not renew; no statement for unknown |
    /// | in grace | end of the paid period, else now at the latest | not paid, grace to the stated end | no |
    /// | on hold | now at the latest | not paid | no statement |
    /// | canceled | as stated | will not renew | once that end is past |
    /// | paused | now at the latest | as stated | yes |
    /// | expired | now at the latest | will not renew | yes |
    /// | revoked | now at the latest, revoked | will not renew | yes |
    public var ledgerStatement: LedgerStatement? {
        guard kind != .consumable || state == .revoked, state.isPurchase, kind == .subscription || state != .unknown
        else { return nil }
        let periods = items.compactMap(period)
        guard !periods.isEmpty else { return nil }
        return LedgerStatement(
            periods: periods, bound: bound(periods), renewal: renewal, end: end(periods),
            movesFrom: previous.map { [$0] } ?? [],
            movedAt: previous.map { _ in readAt }, intentChangedAt: renewalIntentChangedAt,
            isTest: isTest ? true : nil)
    }

    private var previous: TransactionID? { previousKey.flatMap { $0 == key ? nil : store.subscriptionKey($0) } }

    private func period(_ item: Item) -> LedgerPeriod? {
        var ends = item.expiresAt
        if kind == .subscription {
            // The subscription is unpaid or not running, so its period has ended. The store's date may include grace.
            if state == .inGrace { ends = min(paidUntil ?? ends ?? readAt, readAt) }
            if state.isShut { ends = min(ends ?? readAt, readAt) }
            guard ends != nil else { return nil }
        }
        let taken =
            state == .revoked
            ? LedgerPeriod.Revocation(
                at: cancellation?.at ?? min(item.expiresAt ?? readAt, readAt), kind: .refunded,
                reason: cancellation.flatMap { $0.reason == .unknown ? nil : $0.reason })
            : nil
        var period = LedgerPeriod(
            id: periodID(item), productID: item.productID, purchasedAt: firstPurchasedAt ?? readAt, expiresAt: ends,
            revocation: taken, statedAt: readAt, transactionID: item.orderID, originalPurchasedAt: firstPurchasedAt,
            isTrial: item.isTrial, isIntro: item.isIntro, discountID: DiscountID(item.offerID))
        period.planID = item.planID.map { ProductID("\(item.productID):\($0)") }
        if items.count > 1 { period.renews = isLapsing ? false : item.autoRenews }
        return period
    }

    /// Id of the item's period: its order, with the product if the order pays for several products.
    private func periodID(_ item: Item) -> TransactionID {
        let order = item.orderID ?? key
        let isShared = items.contains { $0.productID != item.productID && ($0.orderID ?? key) == order }
        return isShared ? "\(order):\(item.productID)" : order
    }

    private var renewal: LedgerRenewal? {
        guard kind == .subscription, let item = mainItem else { return nil }
        return LedgerRenewal(
            willRenew: isLapsing ? false : item.autoRenews, productID: item.nextProductID ?? item.productID,
            isInBillingRetry: isInBillingRetry, graceUntil: state == .inGrace ? graceUntil ?? item.expiresAt : nil,
            expirationIntent: isLapsing ? cancellation?.expirationIntent : nil,
            priceConsent: item.hasAgreedToPrice.map { $0 ? 1 : 0 },
            cancelationReason: isLapsing ? cancellation?.reason : nil, statedAt: readAt)
    }

    private var isLapsing: Bool { state == .canceled || state == .expired || state == .revoked }

    private func bound(_ periods: [LedgerPeriod]) -> LedgerBound? {
        guard kind == .subscription else { return nil }
        return periods.compactMap(\.expiresAt).max().map { LedgerBound(until: $0, statedAt: readAt) }
    }

    private func end(_ periods: [LedgerPeriod]) -> LedgerEnd? {
        guard kind == .subscription else { return nil }
        let until = periods.compactMap(\.expiresAt).max()
        switch state {
        case .active, .canceled:
            // If it is not renewed, it is over past its end, though the store may not call it expired yet.
            let isOver = renewal?.willRenew == false && until.map { $0 <= readAt } ?? false
            return LedgerEnd(isOver: isOver, until: until, statedAt: readAt)
        case .inGrace:
            return LedgerEnd(isOver: false, until: graceUntil ?? mainItem?.expiresAt, statedAt: readAt)
        case .paused, .expired, .revoked:
            // Ends all known periods, including those of an earlier order that have not expired.
            return LedgerEnd(isOver: true, statedAt: readAt)
        case .onHold, .unknown, .pending, .pendingCanceled:
            return nil
        }
    }
}
