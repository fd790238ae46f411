/// One rule for the status of a subscription at a moment. The first of ``all`` that applies decides.
///
/// Sources: Apple, "JWSTransactionDecodedPayload" and "JWSRenewalInfoDecodedPayload" (App Store Server API), "Enable
/// billing grace period" (App Store Connect Help); Google, "purchases.subscriptionsv2" and "Subscription lifecycle". The
/// other stores' answers are stated in the same terms (`StoreAPI`).
struct StateRule: Sendable {
    /// Name for tests and documents.
    let name: String
    /// Nil: the rule does not apply.
    let state: @Sendable (LedgerMoment) -> SubscriptionState?

    private init(_ name: String, _ state: @escaping @Sendable (LedgerMoment) -> SubscriptionState?) {
        self.name = name
        self.state = state
    }

    static let all: [StateRule] = [
        // The store took the purchase back: Apple's `revocationDate`, Google's voided purchases and refunded orders.
        StateRule("revoked") { $0.period?.revocation == nil ? nil : $0.revoked },
        // Google ends a subscription whose successor is bought. It is no end until the successor had time to be reported.
        StateRule("replaced") { one in
            guard one.isEnded, let end = one.successorsTime, end > one.now else { return nil }
            return one.active(until: end, changesAt: end)
        },
        // The newest statement about the period says that it is over.
        StateRule("ended") { $0.isEnded ? $0.expired : nil },
        // No statement about a period without an end: it runs, such as a product that is bought for good.
        StateRule("endless") { $0.period != nil && $0.end == nil && $0.said == nil ? $0.active : nil },
        // Without an end of the store's, the latest statement alone decides: Cleeng is asked again when its end has come.
        StateRule("said to be over") { $0.end == nil && $0.said?.isOver == true ? $0.expired : nil },
        StateRule("said to run") { one in
            guard one.end == nil, let said = one.said else { return nil }
            let next = said.asksAgainAt(leeway: one.leeway)
            let until = said.until.flatMap { $0 > one.now ? $0 : one.period?.expiresAt }
            return next > one.now
                ? one.active(until: until, changesAt: next, lookUpAt: next) : one.expired(until: until, lookUpAt: next)
        },
        StateRule("paid") { one in
            guard let end = one.end, end > one.now else { return nil }
            return one.active(until: end, changesAt: end, lookUpAt: one.mayRenew ? end + one.leeway : nil)
        },
        // The payment failed, and the customer keeps access: Apple's `gracePeriodExpiresDate`, Google's grace period.
        StateRule("in grace") { one in
            guard let grace = one.renewal?.graceUntil, grace > one.now else { return nil }
            return one.state(.inGrace, changesAt: grace)
        },
        // A later statement than that about the renewal. It may be older than the period's own: a receipt that is made
        // after the end only repeats the period.
        StateRule("ended before") { one in
            guard let period = one.period, let said = one.said, said.isOver, said.statedAt >= period.purchasedAt,
                said.reaches(period), said.statedAt >= one.renewal?.statedAt ?? said.statedAt
            else { return nil }
            return one.expired
        },
        // The payment failed, and the customer has no access: Apple's `isInBillingRetryPeriod`, Google's account hold.
        StateRule("in billing retry") { one in
            guard one.isRetried, let end = one.retryEnd, end > one.now else { return nil }
            return one.state(.inBillingRetry, changesAt: end)
        },
        // Its renewal is not reported yet, or a statement after the period's end says that it runs.
        StateRule("awaited") { one in
            guard one.isAwaited, !one.isRetried, let patience = one.patience, patience > one.now else { return nil }
            let until = one.goesOnUntil == nil ? nil : one.said?.until
            let isLater = until.map { $0 > one.now && $0 > one.end ?? $0 } ?? false
            return one.active(until: isLater ? until : one.end, changesAt: patience, lookUpAt: patience)
        },
        StateRule("unreported") { $0.isAwaited ? $0.expired(until: $0.end, lookUpAt: $0.patience) : nil },
        StateRule("over") { $0.expired },
    ]
}
