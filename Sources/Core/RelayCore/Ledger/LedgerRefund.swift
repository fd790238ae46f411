/// A store's notification that it has paid an order back.
///
/// Google calls a refunded subscription expired, and so do Amazon and Roku: only their notifications call it refunded.
/// So a refund is kept beside the periods. It revokes the period of its order, unless the store has stated since that
/// this order runs: it may have paid back without taking the purchase, or have reversed the refund.
public struct LedgerRefund: Sendable, Hashable, Codable {
    /// Nil: the notification names none, and means the order that the store's next answer names.
    public var order: TransactionID?
    public var at: Timestamp
    /// Nil if the store gave no reason.
    public var reason: CancelationReason?

    public init(order: TransactionID?, at: Timestamp, reason: CancelationReason? = nil) {
        self.order = order
        self.at = at
        self.reason = reason
    }

    var rank: LedgerRank { LedgerRank(statedAt: at, numbers: [], text: reason?.rawValue ?? "") }
}

extension LedgerStatement {
    /// Adds refunds to a store's answer. A refund without an order is of the answer's own orders.
    public func refunding(_ refunds: [LedgerRefund]) -> LedgerStatement {
        var statement = self
        statement.refunds += refunds.flatMap { refund in
            guard refund.order == nil else { return [refund] }
            return periods.map { LedgerRefund(order: $0.order, at: refund.at, reason: refund.reason) }
        }
        return statement
    }
}

extension LedgerPeriod {
    /// The order that paid for it.
    var order: TransactionID { transactionID ?? id }

    func refunded(by refund: LedgerRefund) -> LedgerPeriod {
        guard revocation == nil, statedAt < refund.at || end <= statedAt else { return self }
        var refunded = self
        refunded.revocation = .init(at: min(refund.at, end), kind: .refunded, reason: refund.reason)
        return refunded
    }
}
