/// Status of a subscription at a moment.
public struct SubscriptionState: Sendable, Hashable {
    /// Raw values are stored.
    public enum Status: Int16, Sendable, CaseIterable {
        case active = 1
        case inGrace = 2
        case inBillingRetry = 3
        case expired = 4
        /// Refunded, or no longer shared by the family.
        case revoked = 5

        public var name: String {
            switch self {
            case .active: "active"
            case .inGrace: "in_grace"
            case .inBillingRetry: "in_billing_retry"
            case .expired: "expired"
            case .revoked: "revoked"
            }
        }

        public var grantsAccess: Bool { self == .active || self == .inGrace }
    }

    public var status: Status
    /// Nil if not stated.
    public var willRenew: Bool?
    /// End of the period that counts; nil if it does not end.
    public var expiresAt: Timestamp?
    /// Nil if no purchase was stated.
    public var productID: ProductID?
    public var autoRenewProductID: ProductID?
    /// Why it is revoked or expired.
    public var reason: String?
    /// When time alone will change the status; nil if never.
    public var changesAt: Timestamp?
    /// Time from which on the store should be asked, since it has not reported the renewal.
    public var lookUpAt: Timestamp?
}
