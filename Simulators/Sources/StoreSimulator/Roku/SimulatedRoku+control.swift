import Foundation
import SimulatorKit

extension SimulatedRoku {
    mutating func control(_ segments: [String], _ call: Call, at now: Date) throws(ControlFault) -> Reply {
        switch (segments.first, segments.count, call.method) {
        case ("subscriptions", 2, "PUT"): return try put(segments[1], call, at: now)
        case ("subscriptions", 2, "GET"):
            guard let kept = subscriptions[segments[1]] else { throw .noSuchPurchase }
            return Reply(json: kept, dates: .text)
        case ("subscriptions", 2, "DELETE"):
            answers[segments[1]] = nil
            let wasGone = gone.remove(segments[1]) != nil
            guard subscriptions.removeValue(forKey: segments[1]) != nil || wasGone else { throw .noSuchPurchase }
            return Reply(status: 204)
        case ("subscriptions", 3, "POST"): return try act(segments[1], segments[2], call, at: now)
        case ("answers", 2, "PUT"):
            guard let body = call.body else { throw .tooLarge }
            guard answers[segments[1]] != nil || answers.count < Self.capacity else { throw .full }
            answers[segments[1]] = body
            return Reply(status: 204)
        case (let part?, _, _) where SimulatedRokuPush.controls.contains(part):
            return try push.control(segments, call, at: now)
        default: throw .noSuchAddress
        }
    }

    private mutating func put(_ original: String, _ call: Call, at now: Date) throws(ControlFault) -> Reply {
        let input: RokuSubscription = try call.object(RokuSubscription.fields)
        let isNew = subscriptions[original] == nil
        guard !isNew || subscriptions.count < Self.capacity else { throw .full }
        let kept = input.completed(original, at: now)
        try keep(kept, original)
        gone.remove(original)
        answers[original] = nil
        if isNew {
            publish(RokuTransaction("Sale", kept.transactionId ?? original), of: kept, original, at: now)
        }
        return Reply(json: kept, dates: .text)
    }

    private mutating func keep(_ kept: RokuSubscription, _ original: String) throws(ControlFault) {
        subscriptions[original] = kept
        guard let id = kept.transactionId, id != original else { return }
        guard originals.count < 10 * Self.capacity else { throw .full }
        originals[id] = original
    }

    private mutating func publish(
        _ transaction: RokuTransaction, of kept: RokuSubscription, _ original: String, at now: Date
    ) { push.publish(RokuPushMessage(transaction, of: kept, original, at: now), at: now) }

    private mutating func act(
        _ original: String, _ name: String, _ call: Call, at now: Date
    ) throws(ControlFault) -> Reply {
        guard var kept = subscriptions[original] else { throw .noSuchPurchase }
        let act: RokuAct = try call.object(RokuAct.fields)
        let id = act.transactionId ?? RokuSubscription.newID()
        switch name {
        case "forget":
            gone.insert(original)
            subscriptions[original] = nil
            return Reply(status: 204)
        case "upgrade": return try upgrade(kept, original, to: id, act, at: now)
        default: break
        }
        let transactions = try kept.carryOut(name, act, id: id, at: now)
        try keep(kept, original)
        for transaction in transactions { publish(transaction, of: kept, original, at: now) }
        return Reply(json: kept, dates: .text)
    }

    /// Ends the old subscription, and begins a new one with its own original transaction.
    private mutating func upgrade(
        _ before: RokuSubscription, _ original: String, to id: String, _ act: RokuAct, at now: Date
    ) throws(ControlFault) -> Reply {
        guard subscriptions.count < Self.capacity else { throw .full }
        var old = before
        let paidUntil = before.expirationDate
        old.end(at: now)
        old.purchaseStatus = "Inactive"
        var new = before
        (new.originalPurchaseDate, new.purchaseDate, new.transactionId) = (now, now, id)
        (new.purchaseType, new.cancelledTransactionIds) = ("UPGRADE", [original])
        new.expirationDate = act.until ?? now.addingTimeInterval(30 * 86_400)
        new = new.completed(id, at: now)
        try keep(old, original)
        try keep(new, id)
        publish(RokuTransaction("UpgradeSale", id), of: new, id, at: now)
        var ended = old
        // As in Roku's example, the old subscription shows the end of its paid period.
        ended.expirationDate = paidUntil
        publish(RokuTransaction("UpgradeCancellation", RokuSubscription.newID()), of: ended, original, at: now)
        return Reply(json: new, dates: .text)
    }
}
