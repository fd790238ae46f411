import Foundation
import NIOHTTP1
import RelayCore

extension Model.World {
    /// Carries out one step. Posts, operators' acts, the end of a freeze and restarts continue in the background.
    func carryOut(_ action: Model.Action, ordinal: Int) async throws {
        switch action {
        case .post(let purchase, let slot, let key, let copies):
            for number in 0..<copies {
                let coupon = key.map { "key-\($0)-\(purchase)" } ?? "post-\(ordinal)-\(number)"
                run { try await self.post(purchase, coupon: coupon, key: key, slot: (slot + number) % Self.slots) }
            }
        case .behave(let customer, let names):
            try await control.behave(Model.Purchase.email(customer), names)
        case .trouble(let names): try await control.trouble(names)
        case .heal: try await control.heal()
        case .kill(let slot): await remove(slot, signal: SIGKILL)
        case .stop(let slot): await remove(slot, signal: SIGTERM)
        case .freeze(let slot, let milliseconds): freeze(slot, milliseconds: milliseconds)
        case .retry(let purchase, let slot): act(.retry, on: purchase, slot: slot)
        case .abandon(let purchase, let slot): act(.abandon, on: purchase, slot: slot)
        case .pass: break
        }
    }

    private nonisolated func post(_ purchase: Model.Purchase, coupon: String, key: Int?, slot: Int) async throws {
        var sent = TestPurchase(
            email: purchase.email, offer: purchase.offer, original: purchase.original,
            transactionID: purchase.transactionID)
        // Another spelling of the email names the same customer. A request under a key must repeat its body exactly.
        if key == nil, coupon.hasSuffix("1") { sent.email = " \(purchase.email.uppercased()) " }
        sent.extra["couponCode"] = coupon
        let relay = try await copy(preferring: slot)
        let sentAt = journal.now
        let answer = try? await AppClient.call(
            .POST, relay, "/apple/payment", headers: key.map { ["Idempotency-Key": "key-\($0)"] } ?? [:],
            body: sent.body)
        let post = Model.Post(
            purchase: purchase, coupon: coupon, key: key, copy: relay.process.pid, sentAt: sentAt,
            answeredAt: journal.now, answer: .init(answer))
        journal.note { $0.posts.append(post) }
        guard case .accepted(let id, _) = post.answer, let answer else { return }
        let sighting = Model.Sighting(
            id: id, client: coupon, kind: .post, relay: relay, sentAt: sentAt, json: answer.json, journal: journal)
        if let sighting { journal.note { $0.sightings.append(sighting) } }
        await follow(id, of: purchase)
    }

    /// Acts on the newest known validation of the purchase; does nothing if there is none.
    private func act(_ kind: Model.Act.Kind, on purchase: Model.Purchase, slot: Int) {
        guard let id = newestID(of: purchase) else { return }
        run {
            let relay = try await self.copy(preferring: slot)
            let sentAt = self.journal.now
            let answer = try? await relay.opsPost("/ops/validations/\(id)/\(kind.rawValue)")
            let act = Model.Act(
                kind: kind, id: id, copy: relay.process.pid, sentAt: sentAt, at: self.journal.now,
                status: answer?.status)
            self.journal.note { $0.acts.append(act) }
        }
    }
}

extension Model.Post.Answer {
    init(_ answer: HTTP.Answer?) {
        guard let answer else {
            self = .none
            return
        }
        let json = answer.json
        if answer.status == 202 || answer.status == 200, let id = json["validationId"].string {
            self = .accepted(id: id, status: answer.status)
        } else if answer.status == 422, json["code"].string == "idempotency_key_reused" {
            self = .keyReused
        } else {
            self = .other(answer.status)
        }
    }
}

extension Model.Sighting {
    /// Fails if the answer has no status.
    init?(
        id: String, client: String, kind: Kind, relay: Relay, sentAt: Model.Seconds, json: JSON, journal: Model.Journal
    ) {
        guard let status = json["status"].string.flatMap({ ValidationStatus(name: $0) }) else { return nil }
        self.init(
            id: id, client: client, copy: relay.process.pid, kind: kind, sentAt: sentAt, at: journal.now,
            status: status, reason: json["reason"].string,
            deadline: json["deadline"].string.flatMap { Date(milliseconds: $0) }.map(journal.seconds))
    }
}
