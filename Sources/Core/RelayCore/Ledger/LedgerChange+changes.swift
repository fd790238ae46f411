extension LedgerChange {
    public var hasNewStatus: Bool { found.status != shown?.status }

    /// Whether the timeline records the change.
    public var isNoted: Bool { message.note != nil || hasNewStatus }

    /// Whether the publisher must be notified. A new grant sends its own notification.
    public var notifiesPublisher: Bool {
        // No status was published yet, but a message about the grant may have been sent already.
        guard found.status != nil else { return message.note != nil }
        if hasNewStatus || found.expiresAt != shown?.expiresAt || found.willRenew != shown?.willRenew { return true }
        return found.ledger != ledger
            && (purchases(found.ledger, shown: found.status) != purchases(ledger, shown: shown?.status) || hasEndedItem)
    }

    /// Whether the end of an item passed since the store's previous statement.
    private var hasEndedItem: Bool {
        guard let moment = found.ledger.renewal?.statedAt else { return false }
        return found.ledger.nextItemEnd(after: moment).map { $0 <= found.now } ?? false
    }

    /// The purchases as publishers see them.
    private func purchases(_ ledger: SubscriptionLedger, shown: SubscriptionState.Status?) -> [CustomerPurchase] {
        var purchases = ledger.purchases(of: message.name, shown: shown, at: found.now, leeway: terms.leeway)
        for index in purchases.indices { purchases[index].planID = nil }
        return purchases.sorted { $0.productID < $1.productID }
    }

    /// The reason in the publisher's webhooks.
    public var reason: CustomerChange.Reason {
        switch shown?.status {
        case .revoked: shown?.reason == "family_revoked" ? .revoked : .refunded
        case .expired, .inBillingRetry: .expired
        case .inGrace: .enteredGracePeriod
        case .active where found.status == nil: shown?.willRenew == false ? .willLapse : .other
        case .active where hasNewStatus || (found.expiresAt != nil && found.expiresAt != shown?.expiresAt): .renewed
        case .active
        where found.willRenew != shown?.willRenew && (found.willRenew != nil || shown?.willRenew == false):
            shown?.willRenew == false ? .willLapse : .willAutoRenew
        case .active where found.ledger.renewal?.priceConsent == 0 && ledger.renewal?.priceConsent == 1:
            .priceChangeConfirmed
        case .active, nil: .other
        }
    }
}
