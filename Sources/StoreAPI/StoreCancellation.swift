public import RelayCore

/// Why a purchase has ended, or will not renew, as far as the store says.
public struct StoreCancellation: Sendable, Hashable {
    /// `unknown`: it is over, and the store does not say why.
    public var reason: CancelationReason
    /// When it was decided, as far as the store says.
    public var at: Timestamp?

    public init(_ reason: CancelationReason, at: Timestamp? = nil) {
        self.reason = reason
        self.at = at
    }

    /// The nearest of Apple's numbers, which the ledger knows: 1 cancelled, 2 not paid, 5 other.
    var expirationIntent: Int {
        switch reason {
        case .customer, .notUsefulEnough, .technicalIssues, .cost, .foundBetterApp, .otherReason, .priceIncrease: 1
        case .system, .billingError: 2
        case .developer, .replaced, .productUnavailable, .deleted, .unknown: 5
        }
    }
}
