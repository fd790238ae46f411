import Foundation
import SimulatorKit

/// Body of `POST /control/subscriptions/{token}/{act}` and `POST /control/products/{token}/refund`.
struct PurchaseAct: Decodable {
    /// End of the new period, of grace, or of a pause.
    var until: Date?
    /// Canceling party: `user`, `system`, `developer`, `replacement`.
    var by: String?
    var survey: String?
    /// Whether a refund ends the access too.
    var revoke: Bool?
    /// Source of a refund.
    var source: Int?
    var reason: Int?

    static let fields = ["until", "by", "survey"] + refundFields
    static let refundFields = ["revoke", "source", "reason"]

    var revokes: Bool { revoke ?? true }

    func check() throws(ControlFault) {
        guard (0...2).contains(source ?? 0), (0...8).contains(reason ?? 0) else {
            throw .invalid("source is 0 to 2, reason is 0 to 8")
        }
    }
}

extension GoogleSubscription {
    /// Google's event after the state was set; nil for a replaced state.
    func event(after before: GoogleSubscription?) -> SubscriptionEvent? {
        guard before?.isPending ?? true else { return nil }
        if state == "PENDING_PURCHASE_CANCELED" { return before == nil ? nil : .pendingPurchaseCanceled }
        return isPending ? nil : .purchased
    }

    /// Executes an act other than `forget`.
    /// - Returns: Google's events.
    mutating func carryOut(
        _ name: String, _ act: PurchaseAct, at now: Date
    ) throws(ControlFault) -> SubscriptionEvent? {
        let before = stateName(at: now)
        switch name {
        case "renew":
            renewals = (renewals ?? 0) + 1
            expiryTime = act.until ?? max(now, expiryTime ?? now).addingTimeInterval(30 * 86_400)
            (state, autoRenewing) = ("ACTIVE", true)
            (canceledBy, canceledAt, survey, resumesAt) = (nil, nil, nil, nil)
            switch before {
            case "ON_HOLD", "IN_GRACE_PERIOD", "PAUSED": return .recovered
            case "CANCELED": return .restarted
            case "PENDING": return .purchased
            default: return .renewed
            }
        case "cancel":
            try cancel("CANCELED", by: act.by, act.survey, at: now)
            return .canceled
        case "expire":
            try cancel("EXPIRED", by: act.by, act.survey, at: now)
            expiryTime = min(expiryTime ?? now, now)
            return .expired
        case "refund":
            guard act.revokes else { return nil }
            try cancel("EXPIRED", by: act.by ?? "developer", nil, at: now)
            expiryTime = now
            return before == "EXPIRED" ? nil : .revoked
        case "grace":
            state = "IN_GRACE_PERIOD"
            expiryTime = act.until ?? now.addingTimeInterval(3 * 86_400)
            return .inGracePeriod
        case "hold":
            state = "ON_HOLD"
            expiryTime = min(expiryTime ?? now, now)
            return .onHold
        case "pause":
            state = "PAUSED"
            expiryTime = min(expiryTime ?? now, now)
            resumesAt = act.until ?? now.addingTimeInterval(30 * 86_400)
            return .paused
        default: throw .invalid("there is renew, cancel, expire, refund, grace, hold, pause and forget")
        }
    }

    private mutating func cancel(
        _ state: String, by actor: String?, _ survey: String?, at now: Date
    ) throws(ControlFault) {
        let kinds = [
            "user": "userInitiatedCancellation", "system": "systemInitiatedCancellation",
            "developer": "developerInitiatedCancellation", "replacement": "replacementCancellation",
        ]
        guard let kind = kinds[actor ?? "user"] else { throw .invalid("by is user, system, developer or replacement") }
        (self.state, autoRenewing) = (state, false)
        (canceledBy, canceledAt, self.survey) = (kind, now, survey)
    }
}
