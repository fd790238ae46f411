import Foundation
import SimulatorKit

/// Body of `POST /control/subscriptions/{originalTransactionId}/{act}`.
struct RokuAct: Decodable {
    /// End of the new period.
    var until: Date?
    /// The id of the transaction; a new one if it is left out.
    var transactionId: String?
    /// Whether a refund also ends access: Roku then cancels the subscription.
    var revoke: Bool?

    static let fields = ["until", "transactionId", "revoke"]
}

extension RokuSubscription {
    /// Executes an act other than `forget`.
    ///
    /// - Parameter id: transaction that the act creates.
    /// - Returns: Roku's events, in order.
    mutating func carryOut(
        _ name: String, _ act: RokuAct, id: String, at now: Date
    ) throws(ControlFault) -> [RokuTransaction] {
        guard isOneTime != true || name == "refund" else { throw .invalid("a purchase that is paid once has refund") }
        let expiry = expirationDate ?? now
        switch name {
        case "renew":
            let type = unpaid == "grace" ? "GraceRecovered" : unpaid == "hold" ? "OnHoldRecovered" : "Sale"
            // A subscription that was on hold begins a new period now.
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
        // A chargeback affects only the money.
        case "chargeback": return [RokuTransaction("Chargeback", id)]
        default:
            throw .invalid(
                "there is renew, cancel, resubscribe, expire, refund, grace, hold, chargeback, upgrade and forget")
        }
    }

    /// Ends the subscription without a renewal.
    mutating func end(at now: Date) {
        // One second ago, because a subscription that ends exactly now still runs.
        expirationDate = min(expirationDate ?? now, now.addingTimeInterval(-1))
        (cancelled, isEntitled, purchaseStatus, unpaid) = (true, nil, nil, nil)
    }
}
