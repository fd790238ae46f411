extension StoreNotice {
    /// What it does to the entitlement that its subscription gives.
    enum Effect: Sendable, Equatable {
        case terminate
        /// nil: the end that is known already stands.
        case activate(until: Moment?)
        /// The customer switched renewal on or off.
        case renewal(isOn: Bool)
        /// Was not paid for, and ends with what was.
        case lapse(at: Moment)
        /// Was not paid for, and goes on for a while all the same.
        case grace
    }

    /// nil where it is recorded only.
    var effect: Effect? {
        switch version {
        case .one: effectOfVersionOne
        case .two: effectOfVersionTwo
        }
    }

    private var effectOfVersionOne: Effect? {
        switch type {
        case "REFUND", "CANCEL", "REVOKE": .terminate
        case "DID_RENEW", "DID_RECOVER", "INTERACTIVE_RENEWAL", "INITIAL_BUY": .activate(until: expiresAt)
        default: nil
        }
    }

    private var effectOfVersionTwo: Effect? {
        switch (type, subtype) {
        case ("REFUND", _), ("REVOKE", _), ("EXPIRED", _), ("GRACE_PERIOD_EXPIRED", _): .terminate
        case ("SUBSCRIBED", _), ("DID_RENEW", _), ("OFFER_REDEEMED", _), ("DID_CHANGE_RENEWAL_PREF", "UPGRADE"),
            ("REFUND_REVERSED", _), ("RENEWAL_EXTENDED", _):
            .activate(until: expiresAt)
        case ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED"): .renewal(isOn: true)
        case ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED"): .renewal(isOn: false)
        case ("DID_FAIL_TO_RENEW", "GRACE_PERIOD"): .grace
        case ("DID_FAIL_TO_RENEW", _): expiresAt.map { Effect.lapse(at: $0) }
        default: nil
        }
    }
}
