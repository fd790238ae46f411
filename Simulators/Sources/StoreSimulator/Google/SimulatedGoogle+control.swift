import Foundation
import SimulatorKit

extension SimulatedGoogle {
    mutating func control(_ segments: [String], _ call: Call, at now: Date) throws(ControlFault) -> Reply {
        switch (segments.first, segments.count, call.method) {
        case ("tokens", 1, "DELETE"):
            issuer.revokeAll()
            return Reply(status: 204)
        case ("subscriptions", 2, "PUT"): return try putSubscription(segments[1], call, at: now)
        case ("products", 2, "PUT"): return try putProduct(segments[1], call, at: now)
        case ("subscriptions", 2, "GET"):
            guard let kept = subscriptions[segments[1]] else { throw .noSuchPurchase }
            return Reply(json: kept, dates: .text)
        case ("products", 2, "GET"):
            guard let kept = products[segments[1]] else { throw .noSuchPurchase }
            return Reply(json: kept, dates: .text)
        case ("subscriptions", 2, "DELETE"), ("products", 2, "DELETE"):
            guard remove(segments[1]) else { throw .noSuchPurchase }
            return Reply(status: 204)
        case ("subscriptions", 3, "POST"): return try actOnSubscription(segments[1], segments[2], call, at: now)
        case ("products", 3, "POST"): return try actOnProduct(segments[1], segments[2], call, at: now)
        case ("answers", 2, "PUT"):
            guard let body = call.body else { throw .tooLarge }
            try checkCapacity(answers.count, isNew: answers[segments[1]] == nil)
            answers[segments[1]] = body
            return Reply(status: 204)
        case (let part?, _, _) where SimulatedPubSub.controls.contains(part):
            return try pubSub.control(segments, call, at: now)
        default: throw .noSuchAddress
        }
    }

    private mutating func putSubscription(
        _ token: String, _ call: Call, at now: Date
    ) throws(ControlFault) -> Reply {
        let input: GoogleSubscription = try call.object(GoogleSubscription.fields)
        let before = subscriptions[token]
        try checkCapacity(subscriptions.count, isNew: before == nil)
        let kept = input.completed(at: now)
        subscriptions[token] = kept
        restore(token)
        if let event = kept.event(after: before) {
            pubSub.publish(DeveloperNotification(event, of: kept, token, at: now), at: now)
        }
        return Reply(json: kept, dates: .text)
    }

    private mutating func putProduct(_ token: String, _ call: Call, at now: Date) throws(ControlFault) -> Reply {
        let input: GoogleProduct = try call.object(GoogleProduct.fields)
        let before = products[token]
        try checkCapacity(products.count, isNew: before == nil)
        let kept = input.completed(at: now)
        products[token] = kept
        restore(token)
        if let event = kept.event(after: before) {
            pubSub.publish(DeveloperNotification(event, of: kept, token, at: now), at: now)
        }
        return Reply(json: kept, dates: .text)
    }

    private func checkCapacity(_ count: Int, isNew: Bool) throws(ControlFault) {
        guard !isNew || count < Self.capacity else { throw .full }
    }

    private mutating func restore(_ token: String) {
        gone.remove(token)
        answers[token] = nil
    }

    private mutating func remove(_ token: String) -> Bool {
        answers[token] = nil
        let wasGone = gone.remove(token) != nil
        return subscriptions.removeValue(forKey: token) != nil || products.removeValue(forKey: token) != nil || wasGone
    }

    private mutating func actOnSubscription(
        _ token: String, _ name: String, _ call: Call, at now: Date
    ) throws(ControlFault) -> Reply {
        guard var kept = subscriptions[token] else { throw .noSuchPurchase }
        let act: PurchaseAct = try call.object(PurchaseAct.fields)
        try act.check()
        if name == "forget" {
            gone.insert(token)
            subscriptions[token] = nil
            return Reply(status: 204)
        }
        let event = try kept.carryOut(name, act, at: now)
        subscriptions[token] = kept
        if let event { pubSub.publish(DeveloperNotification(event, of: kept, token, at: now), at: now) }
        if name == "refund" {
            void(
                VoidedPurchase(
                    packageName: kept.packageName ?? "", type: .subscription, purchaseToken: token,
                    orderId: kept.paidOrderID, purchasedAt: kept.startTime ?? now, voidedAt: now,
                    source: act.source ?? 1, reason: act.reason ?? 0))
        }
        return Reply(json: kept, dates: .text)
    }

    private mutating func actOnProduct(
        _ token: String, _ name: String, _ call: Call, at now: Date
    ) throws(ControlFault) -> Reply {
        guard var kept = products[token] else { throw .noSuchPurchase }
        let act: PurchaseAct = try call.object(PurchaseAct.refundFields)
        try act.check()
        switch name {
        case "refund":
            if act.revokes { kept.purchaseState = 1 }
            products[token] = kept
            void(
                VoidedPurchase(
                    packageName: kept.packageName ?? "", type: .product, purchaseToken: token,
                    orderId: kept.orderId ?? "", purchasedAt: kept.purchaseTime ?? now, voidedAt: now,
                    source: act.source ?? 1, reason: act.reason ?? 0))
            return Reply(json: kept, dates: .text)
        case "forget":
            gone.insert(token)
            products[token] = nil
            return Reply(status: 204)
        default: throw .invalid("there is refund and forget")
        }
    }

    private mutating func void(_ purchase: VoidedPurchase) {
        if voided.add(purchase) { pubSub.publish(DeveloperNotification(purchase), at: purchase.voidedAt) }
    }
}
