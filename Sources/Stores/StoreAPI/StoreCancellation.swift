public import RelayCore

/// Why a purchase has ended, or will not renew, according to the store.
public struct StoreCancellation: Sendable, Hashable {
    /// `unknown`: it is over, and the store gives no reason.
    public var reason: CancelationReason
    /// Time of the cancellation, if the store states it.
    public var at: Timestamp?

    public init(_ reason: CancelationReason, at: Timestamp? = nil) {
        self.reason = reason
        self.at = at
    }

    /// The nearest of Apple's numbers, which the ledger uses: 1 cancelled, 2 not paid, 5 other.
    var expirationIntent: Int {
        switch reason {
        case .customer, .notUsefulEnough, .technicalIssues, .cost, .foundBetterApp, .otherReason, .priceIncrease: 1
        case .system, .billingError: 2
        case .developer, .replaced, .productUnavailable, .deleted, .unknown: 5
        }
    }
}
