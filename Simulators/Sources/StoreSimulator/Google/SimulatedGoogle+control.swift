import Foundation

extension SimulatedGoogle {
    mutating func control(_ segments: [String], _ call: StoreCall, at now: Date) throws(ControlFault) -> Reply {
        switch (segments.first, segments.count, call.method) {
        case ("tokens", 1, "DELETE"):
            office.withdrawAll()
            return Reply(status: 204)
        case ("subscriptions", 2, "PUT"):
            return try put(segments[1], call, at: now)
        case ("subscriptions", 2, "GET"):
            guard let kept = subscriptions[segments[1]] else { throw .noSuchPurchase }
            return Reply(json: kept)
        case ("subscriptions", 2, "DELETE"), ("products", 2, "DELETE"):
            guard forget(segments[1]) else { throw .noSuchPurchase }
            return Reply(status: 204)
        case ("subscriptions", 3, "POST"):
            return try act(segments[1], segments[2], call, at: now)
        case ("products", 2, "PUT"):
            let told: GoogleProduct = try ControlBody.decode(from: call, fields: GoogleProduct.fields)
            try makeRoom(products.count, isNew: products[segments[1]] == nil)
            let kept = told.completed(at: now)
            products[segments[1]] = kept
            return Reply(json: kept)
        case ("answers", 2, "PUT"):
            guard let body = call.body else { throw ControlFault(status: 413, message: "the body is too large") }
            try makeRoom(answers.count, isNew: answers[segments[1]] == nil)
            answers[segments[1]] = body
            return Reply(status: 204)
        default: throw .notFound
        }
    }

    private mutating func put(_ token: String, _ call: StoreCall, at now: Date) throws(ControlFault) -> Reply {
        let told: GoogleSubscription = try ControlBody.decode(from: call, fields: GoogleSubscription.fields)
        try makeRoom(subscriptions.count, isNew: subscriptions[token] == nil)
        let kept = told.completed(at: now)
        subscriptions[token] = kept
        gone.remove(token)
        answers[token] = nil
        return Reply(json: kept)
    }

    private func makeRoom(_ count: Int, isNew: Bool) throws(ControlFault) {
        guard !isNew || count < Self.capacity else { throw .full }
    }

    private mutating func forget(_ token: String) -> Bool {
        answers[token] = nil
        let wasGone = gone.remove(token) != nil
        return subscriptions.removeValue(forKey: token) != nil || products.removeValue(forKey: token) != nil || wasGone
    }

    /// What becomes of a subscription; `until` is the end of the new period, of grace, or of a pause.
    private struct Act: Decodable {
        var until: Date?
        /// Who canceled: `user`, `system`, `developer`, `replacement`.
        var by: String?
        var survey: String?
    }

    private mutating func act(
        _ token: String, _ name: String, _ call: StoreCall, at now: Date
    ) throws(ControlFault) -> Reply {
        guard var kept = subscriptions[token] else { throw .noSuchPurchase }
        let act: Act = try ControlBody.decode(from: call, fields: ["until", "by", "survey"])
        switch name {
        case "renew":
            kept.renewals = (kept.renewals ?? 0) + 1
            kept.expiryTime = act.until ?? max(now, kept.expiryTime ?? now).addingTimeInterval(30 * 86_400)
            (kept.state, kept.autoRenewing) = ("ACTIVE", true)
            (kept.canceledBy, kept.canceledAt, kept.survey, kept.resumesAt) = (nil, nil, nil, nil)
        case "cancel": try cancel(&kept, act, "CANCELED", at: now)
        case "expire":
            try cancel(&kept, act, "EXPIRED", at: now)
            kept.expiryTime = min(kept.expiryTime ?? now, now)
        case "refund":
            try cancel(&kept, Act(by: act.by ?? "developer"), "EXPIRED", at: now)
            kept.expiryTime = now
        case "grace":
            kept.state = "IN_GRACE_PERIOD"
            kept.expiryTime = act.until ?? now.addingTimeInterval(3 * 86_400)
        case "hold":
            kept.state = "ON_HOLD"
            kept.expiryTime = min(kept.expiryTime ?? now, now)
        case "pause":
            kept.state = "PAUSED"
            kept.expiryTime = min(kept.expiryTime ?? now, now)
            kept.resumesAt = act.until ?? now.addingTimeInterval(30 * 86_400)
        case "forget":
            gone.insert(token)
            subscriptions[token] = nil
            return Reply(status: 204)
        default: throw .invalid("there is renew, cancel, expire, refund, grace, hold, pause and forget")
        }
        subscriptions[token] = kept
        return Reply(json: kept)
    }

    private func cancel(
        _ kept: inout GoogleSubscription, _ act: Act, _ state: String, at now: Date
    ) throws(ControlFault) {
        let kinds = [
            "user": "userInitiatedCancellation", "system": "systemInitiatedCancellation",
            "developer": "developerInitiatedCancellation", "replacement": "replacementCancellation",
        ]
        guard let kind = kinds[act.by ?? "user"] else { throw .invalid("by is user, system, developer or replacement") }
        (kept.state, kept.autoRenewing) = (state, false)
        (kept.canceledBy, kept.canceledAt, kept.survey) = (kind, now, act.survey)
    }
}
