public import Foundation

/// What customers and Apple do to one that was bought.
extension SimulatedSubscription {
    /// Whether it is to renew.
    public enum Renewal: Sendable {
        case on, off
    }

    /// `DID_CHANGE_RENEWAL_STATUS`, `AUTO_RENEW_ENABLED` or `AUTO_RENEW_DISABLED`.
    @discardableResult
    public mutating func renewalTurned(_ renewal: Renewal, at moment: Date) -> SimulatedNotification {
        willRenew = renewal == .on
        renewalTurnedAt = moment
        return tell(
            "DID_CHANGE_RENEWAL_STATUS", willRenew ? "AUTO_RENEW_ENABLED" : "AUTO_RENEW_DISABLED", at: moment)
    }

    /// `DID_CHANGE_RENEWAL_PREF`, `UPGRADE`: a period of the dearer product begins at once.
    @discardableResult
    public mutating func upgraded(to productId: String, at moment: Date) -> SimulatedNotification {
        change { $0.isUpgraded = true }
        autoRenewProductId = productId
        begin(at: moment, reason: "PURCHASE")
        return tell("DID_CHANGE_RENEWAL_PREF", "UPGRADE", at: moment)
    }

    /// `DID_CHANGE_RENEWAL_PREF`, `DOWNGRADE`: the cheaper product comes with the next period. Without a subtype where it is
    /// the product of this one, as Apple tells of customers who thought better of it.
    @discardableResult
    public mutating func downgraded(to productId: String, at moment: Date) -> SimulatedNotification {
        autoRenewProductId = productId
        let isBack = productId == transaction.productId
        return tell("DID_CHANGE_RENEWAL_PREF", isBack ? nil : "DOWNGRADE", at: moment)
    }

    /// `REFUND`.
    ///
    /// - Parameter transactionId: nil for the newest one.
    @discardableResult
    public mutating func refunded(at moment: Date, transactionId: String? = nil) -> SimulatedNotification {
        let refunded = change(transactionId) { transaction in
            transaction.revocationDate = moment
            transaction.revocationReason = 0
            transaction.revocationType = "REFUND_FULL"
        }
        return tell("REFUND", about: refunded, at: moment)
    }

    /// `REFUND_REVERSED`: the customer was charged after all.
    ///
    /// - Parameter transactionId: nil for the newest one.
    @discardableResult
    public mutating func refundReversed(at moment: Date, transactionId: String? = nil) -> SimulatedNotification {
        let restored = change(transactionId) { transaction in
            transaction.revocationDate = nil
            transaction.revocationReason = nil
            transaction.revocationType = nil
        }
        return tell("REFUND_REVERSED", about: restored, at: moment)
    }

    /// `REVOKE`: the family does not share it any more.
    @discardableResult
    public mutating func revoked(at moment: Date) -> SimulatedNotification {
        change { transaction in
            transaction.revocationDate = moment
            transaction.revocationReason = 0
            transaction.revocationType = "FAMILY_REVOKE"
        }
        return tell("REVOKE", at: moment)
    }

    /// `RENEWAL_EXTENDED`: the period ends later, for nothing.
    ///
    /// - Parameter seconds: by how much.
    @discardableResult
    public mutating func extended(by seconds: TimeInterval, at moment: Date) -> SimulatedNotification {
        change { $0.expiresDate = $0.expiresDate?.addingTimeInterval(seconds) }
        return tell("RENEWAL_EXTENDED", at: moment)
    }

    /// `PRICE_INCREASE`, `ACCEPTED` or `PENDING`.
    @discardableResult
    public mutating func priceIncrease(agreed: Bool, at moment: Date) -> SimulatedNotification {
        priceIncreaseStatus = agreed ? 1 : 0
        return tell("PRICE_INCREASE", agreed ? "ACCEPTED" : "PENDING", at: moment)
    }

    /// It goes on in a bundle of subscriptions, or out of one, under another number. Apple does not say what type tells of
    /// that: the transaction does, which names the number before.
    @discardableResult
    public mutating func movedToBundle(
        newOriginalTransactionId: String, at moment: Date
    ) -> SimulatedNotification {
        previousOriginalTransactionId = originalTransactionId
        originalTransactionId = newOriginalTransactionId
        begin(at: moment, reason: "PURCHASE")
        return tell("SUBSCRIBED", "INITIAL_BUY", at: moment)
    }
}
