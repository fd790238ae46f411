public import RelayCore

extension TransactionPayload {
    /// What it says of a subscription, or of something else that stays bought, or that what is used up (a consumable) was taken back. Nil
    /// for any other consumable, for seats added to a period, where it says too little, and where it is not readable.
    ///
    /// - Parameters:
    ///   - replacesEarlier: the notification is of an upgrade.
    ///   - isFamilyEnd: the notification is of the end of sharing.
    public func ledgerPeriod(replacesEarlier: Bool = false, isFamilyEnd: Bool = false) -> LedgerPeriod? {
        guard isReadable, !addsSeats, type != .consumable || isRevoked, let signed = signedDate?.moment,
            let product = productId,
            let purchased = purchaseDate?.moment,
            // What does not expire is bought once: a receipt may name that by another transaction than a notification.
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
        // What expires says of an offer only where there is one.
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
    /// Nil where it does not say when it was signed, and where it is not readable.
    public var ledgerRenewal: LedgerRenewal? {
        guard isReadable, let signed = signedDate?.moment else { return nil }
        return LedgerRenewal(
            willRenew: autoRenewStatus.map { $0 == 1 }, productID: autoRenewProductId,
            isInBillingRetry: isInBillingRetryPeriod ?? false, graceUntil: gracePeriodExpiresDate?.moment,
            expirationIntent: expirationIntent.map { Int(clamping: $0) },
            priceConsent: priceIncreaseStatus.map { Int(clamping: $0) }, statedAt: signed)
    }
}

extension LedgerPeriod {
    /// Removes the revocation: a refund of seats ends no access of the buyer. The period then counts only where no other statement about
    /// it exists, so an earlier refund of the whole transaction is not reversed.
    mutating func keepThroughSeatRefund() {
        guard revocation != nil else { return }
        revocation = nil
        statedAt = purchasedAt
    }
}
