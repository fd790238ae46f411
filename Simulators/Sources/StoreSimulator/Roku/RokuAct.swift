import Foundation
import SimulatorKit

/// Body of `POST /control/subscriptions/{originalTransactionId}/{act}`.
struct RokuAct: Decodable {
    /// The end of the new period.
    var until: Date?
    /// The id of the transaction; a new one if it is left out.
    var transactionId: String?
    /// Whether a refund ends the access too: Roku cancels then.
    var revoke: Bool?

    static let fields = ["until", "transactionId", "revoke"]
}

extension RokuSubscription {
    /// Carries out an act, other than `forget`.
    ///
    /// - Parameter id: of the transaction that the act is.
    /// - Returns: what Roku notifies of, in this order.
    mutating func carryOut(
        _ name: String, _ act: RokuAct, id: String, at now: Date
    ) throws(ControlFault) -> [RokuTransaction] {
        guard isOneTime != true || name == "refund" else { throw .invalid("a purchase that is paid once has refund") }
        let expiry = expirationDate ?? now
        switch name {
        case "renew":
            let type = unpaid == "grace" ? "GraceRecovered" : unpaid == "hold" ? "OnHoldRecovered" : "Sale"
            // A subscription that was on hold begins anew.
            expirationDate = act.until ?? (unpaid == "hold" ? now : max(now, expiry)).addingTimeInterval(30 * 86_400)
            (purchaseDate, transactionId) = (now, id)
            (cancelled, isEntitled, purchaseStatus, unpaid, isFreeTrial) = (false, nil, nil, nil, false)
            return [RokuTransaction(type, id)]
        case "cancel":
            cancelled = true
            return [RokuTransaction("Cancellation", id)]
        case "resubscribe":
            guard cancelled == true, isEntitled(at: now) else { throw .invalid("only what is canceled and runs") }
            cancelled = false
            return [RokuTransaction("Resubscribe", id)]
        case "expire":
            end(at: now)
            return [RokuTransaction("Cancellation", id)]
        case "refund":
            let refund = RokuTransaction("Refund", id)
            guard act.revoke ?? true, isOneTime != true else { return [refund] }
            end(at: now)
            return [refund, RokuTransaction("Cancellation", Self.newID())]
        case "grace":
            (unpaid, expirationDate) = ("grace", min(expiry, now))
            return [RokuTransaction("GraceInitiated", id)]
        case "hold":
            (unpaid, expirationDate) = ("hold", min(expiry, now))
            return [RokuTransaction("OnHoldInitiated", id)]
        // Money alone.
        case "chargeback": return [RokuTransaction("Chargeback", id)]
        default:
            throw .invalid(
                "there is renew, cancel, resubscribe, expire, refund, grace, hold, chargeback, upgrade and forget")
        }
    }

    /// Ends it, without a renewal.
    mutating func end(at now: Date) {
        // A second ago: what ends now is in its last moment yet.
        expirationDate = min(expirationDate ?? now, now.addingTimeInterval(-1))
        (cancelled, isEntitled, purchaseStatus, unpaid) = (true, nil, nil, nil)
    }
}
