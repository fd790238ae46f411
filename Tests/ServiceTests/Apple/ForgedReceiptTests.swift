import Foundation
import Testing

/// An attacker has the app's key and the number of another customer's subscription, and posts an unsigned transaction.
@Suite struct ForgedReceiptTests {
    @Test func anUnsignedTransactionTakesNoCustomersSubscription() async throws {
        let store = try TestAppStore()
        defer { store.end() }
        try await Setup.run(settings: store.settings("observe")) { setup in
            let original = TestPurchase.newTransactionID()
            let bought = try await setup.relay.purchase(
                try store.purchase(email: "ana@example.test", original: original))
            let id = try #require(bought.json["validationId"].string)
            #expect(try await setup.relay.outcome(id)["status"].string == "granted")
            // The attacker is entitled to the same offer, so any purchase that is sent is granted.
            let forged = TestPurchase(email: "eve@example.test", original: original, product: "platinum.forever")
            let answer = try await setup.relay.purchase(forged)
            #expect(answer.status == 202)
            let forgedID = try #require(answer.json["validationId"].string)
            #expect(try await setup.relay.outcome(forgedID)["status"].string == "granted")
            #expect(try await setup.relay.poll(id).json["status"].string == "granted", "it is still hers")
            let owner = try await setup.relay.ops("/ops/subscriptions?customerEmail=ana@example.test").json["items"]
                .array
            #expect(owner?.count == 1)
            let detail = try await setup.relay.ops("/ops/validations/\(forgedID)").json
            #expect(detail["verification"]["result"].string == "not_genuine")
            #expect(detail["environment"].string == "unknown" && detail["productId"].isNull)
            let purchases = try await setup.relay.ops("/ops/subscriptions?customerEmail=eve@example.test").text
            #expect(!purchases.contains("platinum"))
        }
    }

    /// One of them is always being sent, and the others wait for it.
    @Test func twentyForgeriesDelayNoGenuinePurchaseOfTheirSubscription() async throws {
        let store = try TestAppStore()
        defer { store.end() }
        let settings = store.settings("observe").merging(["RELAY_UPSTREAM_TIMEOUT_SECONDS": "60"]) { $1 }
        try await Setup.run(settings: settings) { setup in
            let control = SimulatorControl(setup.simulator)
            let original = TestPurchase.newTransactionID()
            for number in 0..<20 {
                var forged = TestPurchase(email: "eve\(number)+hang@example.test", original: original)
                forged.receipt = Data("unreadable \(number)".utf8).base64EncodedString()
                _ = try await setup.relay.pursue(forged)
            }
            try await Awaiting.fact("the first of them is being sent", is: 1) { try await control.payments().count }
            // Two genuine purchases are sent one after the other, in order.
            let ana = try await setup.relay.pursue(
                try store.purchase(email: "ana+slow-500ms@example.test", original: original))
            let ben = try await setup.relay.pursue(try store.purchase(email: "ben@example.test", original: original))
            #expect(try await setup.relay.outcome(ben)["status"].string == "granted")
            _ = try await setup.relay.becomes("transferred", ana)
            let sent = try await control.payments()
            #expect(
                sent.map { $0.email?.prefix(3) } == ["eve", "ana", "ben"],
                "one of the forged ones, and both genuine ones")
            #expect(sent.first?.endedAt == nil, "it is still under way")
            let anaEnded = try #require(sent.dropFirst().first?.endedAt)
            #expect(try #require(sent.last).startedAt >= anaEnded)
        }
    }

    @Test func aForgeryOvertakesNoWaitingPurchase() async throws {
        let store = try TestAppStore()
        defer { store.end() }
        let settings = store.settings("observe").merging(["RELAY_VALIDATION_TIMEOUT_SECONDS": "300"]) { $1 }
        try await Setup.run(settings: settings) { setup in
            let control = SimulatorControl(setup.simulator)
            let original = TestPurchase.newTransactionID()
            try await control.behave("ana@example.test", "flaky-2")
            let bought = try await setup.relay.purchase(
                try store.purchase(email: "ana@example.test", original: original))
            let id = try #require(bought.json["validationId"].string)
            try await Awaiting.fact("its first try has failed") {
                try await control.payments(of: "ana@example.test").count
            } holds: {
                $0 >= 1
            }
            let forged = try await setup.relay.purchase(TestPurchase(email: "eve@example.test", original: original))
            let forgedID = try #require(forged.json["validationId"].string)
            #expect(try await setup.relay.outcome(forgedID)["status"].string == "granted")
            #expect(try await setup.relay.outcome(id)["status"].string == "granted", "it was sent all the same")
        }
    }
}
