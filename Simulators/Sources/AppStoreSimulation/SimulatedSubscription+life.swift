public import Foundation

/// Events by name, of which not every one is possible at any time.
extension SimulatedSubscription {
    /// Before which moment an event does not happen; nil where it may at once.
    public func earliest(for event: LifeEvent) -> Date? {
        guard let newest = transactions.last else { return nil }
        switch event {
        case .renew, .expire: return newest.expiresDate
        // In whole seconds, as purchases are written, it would else not be the later one.
        case .upgrade: return newest.purchaseDate.inWholeSeconds.addingTimeInterval(1)
        default: return nil
        }
    }

    /// - Returns: the notification that tells of it. Purchases are in whole seconds, as the App Store writes them.
    /// - Throws: where it cannot happen now; then nothing has changed.
    public mutating func happen(
        _ event: LifeEvent, at moment: Date
    ) throws(LifeError) -> SimulatedNotification {
        if let objection = objection(to: event, at: moment) { throw objection }
        let second = moment.inWholeSeconds
        var told =
            switch event {
            case .buy: bought(at: second)
            case .renew: renewed(at: moment)
            case .fail(let hasGrace):
                renewalFailed(at: moment, graceUntil: hasGrace ? max(end, moment).addingTimeInterval(period) : nil)
            case .graceEnded: graceEnded(at: moment)
            case .recover: recovered(at: second)
            case .upgrade(let productId): upgraded(to: productId, at: second)
            case .downgrade(let productId): downgraded(to: productId, at: moment)
            case .turn(let renewal): renewalTurned(renewal, at: moment)
            case .expire: expired(at: moment)
            case .refund: refunded(at: moment)
            case .reverseRefund: refundReversed(at: moment)
            case .resubscribe: resubscribed(at: second)
            case .revoke: revoked(at: moment)
            }
        // What is said within the same second is still said in an order.
        told.signedDate = moment
        return told
    }

    /// Why an event cannot happen; nil where it can.
    public func objection(to event: LifeEvent, at moment: Date) -> LifeError? {
        reason(against: event, at: moment).map { LifeError($0) }
    }

    /// The newest transaction.
    ///
    /// - Throws: where nothing was bought yet.
    public var newest: SimulatedTransaction {
        get throws(LifeError) {
            guard let newest = transactions.last else { throw .nothingBought }
            return newest
        }
    }

    private func reason(against event: LifeEvent, at moment: Date) -> String? {
        guard let newest = transactions.last else { return event == .buy ? nil : LifeError.nothingBought.description }
        if event == .buy { return "it was bought already" }
        if event == .reverseRefund {
            return newest.revocationType == "REFUND_FULL" ? nil : "the newest period was not refunded"
        }
        let isGone = newest.revocationDate != nil || isOver
        if event == .resubscribe { return isGone || end <= moment ? nil : "it has not ended" }
        if newest.revocationDate != nil { return "it was taken back" }
        // What was paid for can be given back later too.
        if event == .refund || event == .revoke { return nil }
        return isOver ? "it has ended" : reason(againstGoingOnWith: event)
    }

    /// Of one that is not over.
    private func reason(againstGoingOnWith event: LifeEvent) -> String? {
        switch event {
        case .renew where isInBillingRetry: "the payment has failed"
        case .renew where !willRenew, .fail where !willRenew: "renewal is turned off"
        case .graceEnded where graceUntil == nil: "there is no grace"
        case .recover where !isInBillingRetry: "no payment has failed"
        case .upgrade(transaction.productId), .downgrade(autoRenewProductId): "that is the product already"
        case .turn(.on) where willRenew: "renewal is turned on"
        case .turn(.off) where !willRenew: "renewal is turned off"
        default: nil
        }
    }

    private var end: Date { transaction.expiresDate ?? .distantFuture }
}

extension Date {
    fileprivate var inWholeSeconds: Date { Date(timeIntervalSince1970: timeIntervalSince1970.rounded(.down)) }
}
