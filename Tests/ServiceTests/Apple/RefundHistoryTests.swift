import AppStoreSimulation
import Foundation
import NIOHTTP1
import Testing

/// Operators read the App Store's refund history: refunds with lost notifications end access.
@Suite struct RefundHistoryTests {
    private func lookUp(_ id: String, _ relay: Relay) async throws -> HTTP.Answer {
        try await HTTP.post(
            relay.opsURL + "/ops/subscriptions/\(id)/refunds",
            headers: ["Authorization": "Bearer \(relay.keys.operator)", "Content-Type": "application/json"],
            body: Data(#"{"reason":"a ticket"}"#.utf8))
    }

    @Test func anUnreportedRefundEndsAccessOnce() async throws {
        try await ConsumptionScene.run { scene in
            let relay = scene.setup.relay
            var life = try await scene.buy()
            let known = try await relay.subscription(life)
            let id = try #require(known["id"].string)
            #expect(try await lookUp(id, relay).json["found"].int == 0)
            // A statement that is signed later than the refund overrides it.
            try await Awaiting.fact("Apple was asked about the purchase", is: true) {
                try await relay.subscription(life)["timeline"].array?.contains { $0["event"].string == "looked_up" }
            }
            // More refunds than a page has, also of earlier periods.
            let start = Date()
            let first = life.refunded(at: start)
            try await scene.api.lose(first, signedBy: scene.store)
            for number in 1...3 {
                let moment = start.addingTimeInterval(Double(number) / 10)
                _ = life.resubscribed(at: moment)
                try await scene.api.lose(life.refunded(at: moment), signedBy: scene.store)
            }
            // A refund takes effect at its time.
            try await Task.sleep(for: .seconds(start.addingTimeInterval(1).timeIntervalSinceNow))
            let answer = try await lookUp(id, relay)
            #expect(answer.status == 200, "\(answer.text)")
            #expect(answer.json["found"].int == 4)
            #expect(answer.json["new"].int == 4)
            let now = try await relay.subscription(life)
            #expect(now["status"].string == "revoked", "\(now)")
            let again = try await lookUp(id, relay)
            #expect(again.json["found"].int == 4)
            #expect(again.json["new"].int == 0)
        }
    }

    @Test func aForgedRefundIsIgnored() async throws {
        try await ConsumptionScene.run { scene in
            let relay = scene.setup.relay
            var life = try await scene.buy()
            let id = try #require(try await relay.subscription(life)["id"].string)
            let stranger = try TestAppStore(isStranger: true)
            defer { stranger.end() }
            try await scene.api.lose(life.refunded(at: Date()), signedBy: stranger)
            let answer = try await lookUp(id, relay)
            #expect(answer.json["unusable"].int == 1, "\(answer.text)")
            #expect(answer.json["new"].int == 0)
            #expect(try await relay.subscription(life)["status"].string == "active")
            #expect(try await lookUp("none", relay).status == 404)
        }
    }
}
