import Foundation

extension SimulatedAmazon {
    mutating func control(_ segments: [String], _ call: StoreCall, at now: Date) throws(ControlFault) -> Reply {
        switch (segments.first, segments.count, call.method) {
        case ("subscriptions", 2, "PUT"):
            let told: AmazonPurchase = try ControlBody.decode(from: call, fields: AmazonPurchase.fields)
            guard purchases[segments[1]] != nil || purchases.count < Self.capacity else { throw .full }
            let kept = told.completed(at: now)
            purchases[segments[1]] = kept
            gone.remove(segments[1])
            answers[segments[1]] = nil
            return Reply(json: kept)
        case ("subscriptions", 2, "GET"):
            guard let kept = purchases[segments[1]] else { throw .noSuchPurchase }
            return Reply(json: kept)
        case ("subscriptions", 2, "DELETE"):
            answers[segments[1]] = nil
            let wasGone = gone.remove(segments[1]) != nil
            guard purchases.removeValue(forKey: segments[1]) != nil || wasGone else { throw .noSuchPurchase }
            return Reply(status: 204)
        case ("subscriptions", 3, "POST"):
            return try act(segments[1], segments[2], call, at: now)
        case ("answers", 2, "PUT"):
            guard let body = call.body else { throw ControlFault(status: 413, message: "the body is too large") }
            guard answers[segments[1]] != nil || answers.count < Self.capacity else { throw .full }
            answers[segments[1]] = body
            return Reply(status: 204)
        default: throw .notFound
        }
    }

    /// `until` is the end of the new period, or of grace.
    private struct Act: Decodable {
        var until: Date?
        /// Amazon's number.
        var reason: Int?
    }

    private mutating func act(
        _ receipt: String, _ name: String, _ call: StoreCall, at now: Date
    ) throws(ControlFault) -> Reply {
        guard var kept = purchases[receipt] else { throw .noSuchPurchase }
        let act: Act = try ControlBody.decode(from: call, fields: ["until", "reason"])
        switch name {
        case "renew":
            kept.renewalDate = act.until ?? max(now, kept.renewalDate ?? now).addingTimeInterval(30 * 86_400)
            kept.autoRenewing = true
            (kept.cancelDate, kept.cancelReason, kept.gracePeriodEndDate) = (nil, nil, nil)
        // Until it ends Amazon says nothing but that it will not renew.
        case "cancel": kept.autoRenewing = false
        case "expire", "refund":
            (kept.autoRenewing, kept.cancelDate) = (false, now)
            kept.cancelReason = act.reason ?? 1
        case "grace":
            kept.renewalDate = min(kept.renewalDate ?? now, now)
            kept.gracePeriodEndDate = act.until ?? now.addingTimeInterval(3 * 86_400)
        case "forget":
            gone.insert(receipt)
            purchases[receipt] = nil
            return Reply(status: 204)
        // Amazon has neither.
        case "hold", "pause": throw .invalid("the Amazon Appstore knows no \(name)")
        default: throw .invalid("there is renew, cancel, expire, refund, grace and forget")
        }
        purchases[receipt] = kept
        return Reply(json: kept)
    }
}
