public import Foundation

/// Being bought, paid for and not paid for.
extension SimulatedSubscription {
    /// `SUBSCRIBED`, `INITIAL_BUY`.
    @discardableResult
    public mutating func bought(at moment: Date) -> SimulatedNotification {
        begin(at: moment, reason: "PURCHASE")
        return tell("SUBSCRIBED", "INITIAL_BUY", at: moment)
    }

    /// `SUBSCRIBED`, `RESUBSCRIBE`: it had ended, and was bought again.
    ///
    /// - Parameter productId: nil for the one that it had.
    @discardableResult
    public mutating func resubscribed(to productId: String? = nil, at moment: Date) -> SimulatedNotification {
        if let productId { autoRenewProductId = productId }
        begin(at: moment, reason: "PURCHASE")
        return tell("SUBSCRIBED", "RESUBSCRIBE", at: moment)
    }

    /// `DID_RENEW`: the next period begins where the last one ends.
    @discardableResult
    public mutating func renewed(at moment: Date) -> SimulatedNotification {
        begin(at: transaction.expiresDate ?? moment, reason: "RENEWAL")
        return tell("DID_RENEW", at: moment)
    }

    /// `DID_FAIL_TO_RENEW`, with `GRACE_PERIOD` where there is one: the payment failed, and is tried again.
    @discardableResult
    public mutating func renewalFailed(at moment: Date, graceUntil: Date? = nil) -> SimulatedNotification {
        isInBillingRetry = true
        self.graceUntil = graceUntil
        let hasEnded = transaction.expiresDate.map { $0 <= moment } ?? false
        expirationIntent = hasEnded && graceUntil == nil ? Intent.notPaid : nil
        return tell("DID_FAIL_TO_RENEW", graceUntil == nil ? nil : "GRACE_PERIOD", at: moment)
    }

    /// `GRACE_PERIOD_EXPIRED`: it is tried again still, without access.
    @discardableResult
    public mutating func graceEnded(at moment: Date) -> SimulatedNotification {
        isInBillingRetry = true
        graceUntil = nil
        expirationIntent = Intent.notPaid
        return tell("GRACE_PERIOD_EXPIRED", at: moment)
    }

    /// `DID_RENEW`, `BILLING_RECOVERY`: paid at last. The days of grace are part of the new period, others are not.
    @discardableResult
    public mutating func recovered(at moment: Date) -> SimulatedNotification {
        let end = transaction.expiresDate ?? moment
        let isInGrace = graceUntil.map { moment < $0 } ?? false
        begin(at: isInGrace ? end : max(end, moment), reason: "RENEWAL")
        return tell("DID_RENEW", "BILLING_RECOVERY", at: moment)
    }

    /// `EXPIRED`, with the subtype that follows from how it stands: `VOLUNTARY` where renewal is off, `BILLING_RETRY` where
    /// it was not paid, `PRICE_INCREASE` where consent was asked for and not given, else none.
    @discardableResult
    public mutating func expired(at moment: Date) -> SimulatedNotification {
        let cause = causeOfEnd
        isInBillingRetry = false
        graceUntil = nil
        expirationIntent = cause.intent
        isOver = true
        return tell("EXPIRED", cause.subtype, at: moment)
    }

    private var causeOfEnd: (subtype: String?, intent: Int) {
        if !willRenew { return ("VOLUNTARY", Intent.turnedOff) }
        if isInBillingRetry { return ("BILLING_RETRY", Intent.notPaid) }
        if priceIncreaseStatus == 0 { return ("PRICE_INCREASE", Intent.noConsent) }
        return (nil, Intent.other)
    }

    /// Source: App Store Server API, `expirationIntent`.
    private enum Intent {
        static let turnedOff = 1
        static let notPaid = 2
        static let noConsent = 3
        static let other = 5
    }
}
