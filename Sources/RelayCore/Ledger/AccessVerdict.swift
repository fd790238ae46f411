/// What a subscription's standing means for who was granted access on it.
public enum AccessVerdict: Sendable, Hashable {
    case goesOn(expiresAt: Timestamp?)
    /// `refunded`, `family_revoked`, `expired`.
    case ends(reason: String)
}

extension SubscriptionStanding {
    /// Nil where it is not known: a renewal that nobody has told of is asked for before it is called missing, and what
    /// Cleeng granted stands until then.
    public var access: AccessVerdict? {
        switch status {
        case .active: .goesOn(expiresAt: expiresAt)
        case .inGrace: .goesOn(expiresAt: changesAt ?? expiresAt)
        case .revoked: .ends(reason: reason ?? "refunded")
        case .inBillingRetry: .ends(reason: "expired")
        case .expired: lookUpAt == nil ? .ends(reason: "expired") : nil
        }
    }

    /// When it has to be looked at again without anybody's word; nil where it need not.
    public var nextLookAt: Timestamp? { [changesAt, lookUpAt].compactMap(\.self).min() }
}
