extension SubscriptionLedger {
    /// The newest purchase of each product that the subscription ever had.
    ///
    /// - Parameters:
    ///   - shown: last published status. It remains published while a renewal is unreported and neither the store nor
    ///     Cleeng has answered. Nil if none was published.
    ///   - leeway: how long after a period's end a renewal may still be reported.
    /// - Returns: empty if no purchase is known.
    public func purchases(
        of name: SubscriptionName, shown: SubscriptionState.Status?, at now: Timestamp, leeway: Duration
    ) -> [CustomerPurchase] {
        guard let current = current(at: now), let state = state(at: now, leeway: leeway) else { return [] }
        var newest = newestOfProducts
        for product in items ?? [] { newest[product] = item(product) }
        newest[current.productID] = current
        return newest.values.map { period in
            var purchase = purchase(period, of: name)
            if period.id == current.id {
                describe(&purchase, state, current, shown: shown)
            } else if items?.contains(period.productID) == true {
                if endsTogether(period, with: current), !isEnded(period) {
                    describe(&purchase, state, period, shown: shown)
                } else {
                    describe(&purchase, item: period, at: now)
                }
            } else {
                replace(&purchase, period)
            }
            return purchase
        }
    }

    /// The newest purchase of each product of a subscription that continues under another id. All are over.
    public func formerPurchases(of name: SubscriptionName) -> [CustomerPurchase] {
        guard let movedAt else { return [] }
        return newestOfProducts.values.map { period in
            var purchase = purchase(period, of: name)
            purchase.cancelationReason =
                period.revocation?.cancelationReason ?? renewal?.cancelationReason
                ?? (period.end > movedAt ? .replaced : .unknown)
            purchase.expiresAt = min(period.end, movedAt)
            return purchase
        }
    }

    private var newestOfProducts: [ProductID: LedgerPeriod] {
        Dictionary(periods.values.map { ($0.productID, $0) }) { Self.isOlder($0, $1) ? $1 : $0 }
    }

    private func purchase(_ period: LedgerPeriod, of name: SubscriptionName) -> CustomerPurchase {
        let platform = name.platform
        let purchaseID = platform.name(ofKey: name.originalTransactionID)
        var purchase = CustomerPurchase(
            platform: platform, productID: period.productID, purchaseID: purchaseID,
            transactionID: period.transactionID ?? purchaseID, isSandbox: name.isSandbox || isTest == true,
            isExpired: true)
        purchase.purchasedAt = period.originalPurchasedAt ?? period.purchasedAt
        purchase.renewedAt = period.purchasedAt
        purchase.expiresAt = period.expiresAt
        purchase.isTrial = period.isTrial
        purchase.isIntro = period.isIntro
        purchase.discountID = period.discountID
        purchase.planID = period.planID
        return purchase
    }

    private func describe(
        _ purchase: inout CustomerPurchase, _ state: SubscriptionState, _ period: LedgerPeriod,
        shown: SubscriptionState.Status?
    ) {
        let isUnanswered = state.status == .expired && state.access == nil
        var status = isUnanswered ? shown ?? state.status : state.status
        if isEndedByCleeng(period) { status = .expired }
        purchase.isExpired = !status.grantsAccess
        let said = renewal.flatMap { $0.statedAt >= period.isKnownFrom ? $0 : nil }
        if period.expiresAt != nil, let said {
            if let willRenew = willRenew(period) { purchase.renewalIntent = willRenew ? .renew : .lapse }
            purchase.isBillingRetry = status == .inGrace || status == .inBillingRetry
            purchase.priceConsent = said.priceConsent.map { $0 == 1 ? .agreed : .notified }
        }
        // The last change of intent still applies after a renewal. It is omitted if no current statement has an intent,
        // as after a new sign-up.
        if purchase.renewalIntent != nil { purchase.renewalIntentChangedAt = intentChangedAt }
        purchase.cancelationReason = cancelationReason(period, said, status)
    }

    /// Whether only Cleeng could end the period, and did. The store gives it no end, and Cleeng's latest statement on
    /// every offer ends it. The catalogue may map the product to an offer that the relay never asked Cleeng about.
    private func isEndedByCleeng(_ period: LedgerPeriod) -> Bool {
        period.expiresAt == nil && period.revocation == nil && said(of: period) == nil && !cleeng.isEmpty
            && cleeng.values.allSatisfy(\.isOver)
    }

    private func cancelationReason(
        _ period: LedgerPeriod, _ said: LedgerRenewal?, _ status: SubscriptionState.Status
    ) -> CancelationReason? {
        if let revocation = period.revocation { return revocation.cancelationReason }
        let stated = said?.cancelationReason ?? said?.expirationIntent.map(CancelationReason.init(expirationIntent:))
        switch status {
        case .active where said.flatMap({ _ in willRenew(period) }) == false: return stated ?? .customer
        case .active, .inGrace: return nil
        case .inBillingRetry: return stated ?? .billingError
        case .expired, .revoked: return stated ?? (said?.willRenew == false ? .customer : .unknown)
        }
    }

    /// Describes an item other than the current period. Its own date decides whether it has ended.
    private func describe(_ purchase: inout CustomerPurchase, item period: LedgerPeriod, at now: Timestamp) {
        let end = itemEnd(period)
        if period.expiresAt != nil { purchase.expiresAt = end }
        purchase.isExpired = period.revocation != nil || end <= now || isEnded(period)
        guard purchase.isExpired else {
            if period.expiresAt != nil, let willRenew = willRenew(period) {
                purchase.renewalIntent = willRenew ? .renew : .lapse
            }
            return
        }
        purchase.cancelationReason = period.revocation?.cancelationReason ?? renewal?.cancelationReason ?? .unknown
    }

    /// Describes a product that the subscription no longer has.
    private func replace(_ purchase: inout CustomerPurchase, _ period: LedgerPeriod) {
        if let revocation = period.revocation {
            purchase.cancelationReason = revocation.cancelationReason
            return
        }
        purchase.cancelationReason = .replaced
        // A customer who switched products had this one until the switch.
        let successor = periods.values.filter { $0.productID != period.productID && Self.isOlder(period, $0) }
            .min(by: Self.isOlder)
        if let successor, let end = period.expiresAt { purchase.expiresAt = min(end, successor.purchasedAt) }
    }
}

extension SubscriptionName {
    /// Whether it is a test purchase that was not paid for, as in Apple's sandbox. An unreadable purchase counts as
    /// real.
    public var isSandbox: Bool { environment != .production && environment != .unknown }
}
