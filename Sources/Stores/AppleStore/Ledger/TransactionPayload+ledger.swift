public import RelayCore

extension TransactionPayload {
    /// The transaction as ledger periods: one, or one for each item of an Advanced Commerce purchase, under its SKU.
    /// Empty where ``ledgerPeriod(replacesEarlier:isFamilyEnd:)`` is nil.
    ///
    /// - Parameter statedAt: time of a statement that lists all remaining items; nil if none does.
    public func ledgerPeriods(
        replacesEarlier: Bool = false, isFamilyEnd: Bool = false, statedAt: Timestamp? = nil
    ) -> [LedgerPeriod] {
        guard let whole = ledgerPeriod(replacesEarlier: replacesEarlier, isFamilyEnd: isFamilyEnd) else { return [] }
        guard !items.isEmpty else { return [whole] }
        return items.map { item in
            var period = whole
            (period.id, period.productID) = ("\(whole.id):\(item.sku)", item.sku)
            if let statedAt { period.statedAt = max(period.statedAt, statedAt) }
            if period.revocation == nil, item.isRevoked {
                period.revocation = .init(at: item.revocationDate?.moment ?? whole.statedAt, kind: .refunded)
            }
            return period
        }
    }

    /// The transaction as a ledger period: a subscription, another lasting purchase, or a revoked consumable. Nil for
    /// any other consumable, for seats added to a period, and if required fields are missing or unreadable.
    ///
    /// - Parameters:
    ///   - replacesEarlier: the notification reports an upgrade.
    ///   - isFamilyEnd: the notification reports the end of sharing.
    private func ledgerPeriod(replacesEarlier: Bool = false, isFamilyEnd: Bool = false) -> LedgerPeriod? {
        guard isReadable, !addsSeats, type != .consumable || isRevoked, let signed = signedDate?.moment,
            let product = productId,
            let purchased = purchaseDate?.moment,
            // Receipt and notification may name a purchase that does not expire by different transactions. Its original
            // transaction is the same in both.
            let id = (expiresDate == nil ? [originalTransactionId] : [webOrderLineItemId, transactionId])
                .compactMap(\.self).first(where: { $0 != "0" })
        else { return nil }
        var revocation: LedgerPeriod.Revocation?
        if isRevoked {
            let isFamily =
                isFamilyEnd || revocationType == "FAMILY_REVOKE" || inAppOwnershipType == "FAMILY_SHARED"
            revocation = .init(
                at: revocationDate?.moment ?? signed, kind: isFamily ? .familyRevoked : .refunded,
                reason: isFamily ? nil : revocationReason.flatMap { .init(revocationReason: Int(clamping: $0)) })
        }
        // Trial and introductory offer are known only for purchases that expire.
        let isRenewed = expiresDate != nil
        let isTrial = offerDiscountType == Self.freeTrial
        var period = LedgerPeriod(
            id: id, productID: product, purchasedAt: purchased, expiresAt: expiresDate?.end, revocation: revocation,
            isUpgraded: isUpgraded ?? false, replacesEarlier: replacesEarlier, statedAt: signed,
            transactionID: transactionId == "0" ? nil : transactionId,
            originalPurchasedAt: originalPurchaseDate?.moment, isTrial: isRenewed ? isTrial : nil,
            isIntro: isRenewed ? offerType == Self.introductoryOffer && !isTrial : nil,
            discountID: offerType == Self.introductoryOffer ? nil : DiscountID(offerIdentifier))
        period.storeOffer = StoreOffer(
            identifier: offerIdentifier, type: offerType.map { Int(clamping: $0) }, discountType: offerDiscountType)
        return period
    }
}

extension RenewalPayload {
    /// Nil if the renewal has no signing date or is not readable.
    public var ledgerRenewal: LedgerRenewal? {
        guard isReadable, let signed = signedDate?.moment else { return nil }
        return LedgerRenewal(
            // With several items, no single product comes next.
            willRenew: autoRenewStatus.map { $0 == 1 },
            productID: items.isEmpty ? autoRenewProductId : items.count == 1 ? items[0].sku : nil,
            isInBillingRetry: isInBillingRetryPeriod ?? false, graceUntil: gracePeriodExpiresDate?.moment,
            expirationIntent: expirationIntent.map { Int(clamping: $0) },
            priceConsent: priceIncreaseStatus.map { Int(clamping: $0) }, statedAt: signed)
    }
}

extension LedgerPeriod {
    /// Removes the revocation: a refund of seats does not end the buyer's access. The statement is dated back to the
    /// purchase, so that it does not reverse another one, such as an earlier refund of the whole transaction.
    mutating func keepThroughSeatRefund() {
        guard revocation != nil else { return }
        revocation = nil
        statedAt = purchasedAt
    }
}
