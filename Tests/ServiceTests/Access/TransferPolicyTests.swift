import AppStoreSimulation
import Foundation
import NIOHTTP1
import Postgres
import Testing

/// `RELAY_TRANSFER_POLICY`: which customer may take a subscription from its owner.
@Suite struct TransferPolicyTests {
    private static let (ana, ben) = ("ana@example.test", "ben@example.test")
    /// Result of `uuid5(uuid5(NAMESPACE_URL, "main"), "ben@example.test")` in other languages.
    private static let tokenOfBen = "5342F28C-2691-5F02-856A-27F536446946"

    private func run(
        _ policy: String, grantAfter: Double = 0, _ body: (Setup, SimulatorControl) async throws -> Void
    ) async throws {
        try await Setup.run(grantAfter: grantAfter, settings: ["RELAY_TRANSFER_POLICY": policy]) { setup in
            try await body(setup, SimulatorControl(setup.simulator))
        }
    }

    private func expectRefused(_ answer: HTTP.Answer) {
        #expect(answer.status == 409, "\(answer.text)")
        #expect(answer.json["code"].string == "owned_by_another")
        #expect(!answer.text.contains("ana@"))
    }

    @Test func refusedIsNotForwardedAndOpsSeesIt() async throws {
        try await run("refuse") { setup, control in
            let (relay, original) = (setup.relay, TestPurchase.newTransactionID())
            let first = try await relay.pursue(Self.ana, original: original)
            _ = try await relay.becomes("granted", first)
            for _ in 0..<2 {
                expectRefused(try await relay.purchase(TestPurchase(email: Self.ben, original: original)))
            }
            #expect(try await control.payments(of: Self.ben).isEmpty)
            #expect(try await relay.poll(first).json["status"].string == "granted")
            let shown = try await relay.ops("/ops/subscriptions?originalTransactionId=\(original)").json["items"][0]
            let lines = shown["timeline"].array?.filter { $0["event"].string == "transfer_refused" }
            #expect(lines?.count == 1, "one an hour: \(shown)")
            #expect(try await relay.metric("intake_outcomes_total{outcome=\"owned_by_another\"}") == 2)
            // The owner may post it again at any time.
            let again = try await relay.pursue(
                TestPurchase(email: Self.ana, original: original, transactionID: "2000000999999999"))
            _ = try await relay.becomes("granted", again)
        }
    }

    /// Cleeng reads the whole receipt, whichever purchase and offer an app names with it.
    @Test(arguments: ["refuse", "require-token"]) func anOwnedReceiptUnderAnotherNameIsRefused(
        policy: String
    ) async throws {
        let store = try TestAppStore()
        defer { store.end() }
        try await Setup.run(settings: store.settings(relayingTo: nil, ["RELAY_TRANSFER_POLICY": policy])) { setup in
            var purchase = try store.receiptPurchase(email: Self.ana)
            _ = try await setup.relay.becomes("granted", try await setup.relay.pursue(purchase))
            (purchase.email, purchase.offer) = (Self.ben, "S598742062_US")
            purchase.transactionID = "2000000099999999"
            expectRefused(try await setup.relay.purchase(purchase))
            let payments = try await SimulatorControl(setup.simulator).payments(of: Self.ben)
            #expect(payments.isEmpty)
        }
    }

    @Test func anEndedSubscriptionMayBeTakenByAnyCustomer() async throws {
        try await run("refuse") { setup, control in
            let (relay, original) = (setup.relay, TestPurchase.newTransactionID())
            let first = try await relay.pursue(Self.ana, original: original)
            _ = try await relay.becomes("granted", first)
            try await hasLedger(setup)
            _ = try await setup.database.query("UPDATE validations SET status = 5, reason = 'expired'")
            _ = try await setup.database.query("UPDATE ledgers SET status = 4, reason = 'expired'")
            let second = try await relay.pursue(Self.ben, original: original)
            _ = try await relay.becomes("granted", second)
        }
    }

    /// Retention removes old validations, and a change of product ends the validation of the product before.
    @Test(arguments: ["DELETE FROM validations", "UPDATE validations SET status = 5, reason = 'replaced'"])
    func aRunningSubscriptionIsItsOwnersWithoutAGrantedValidation(change: String) async throws {
        try await run("refuse") { setup, control in
            let (relay, original) = (setup.relay, TestPurchase.newTransactionID())
            let first = try await relay.pursue(Self.ana, original: original)
            _ = try await relay.becomes("granted", first)
            try await hasLedger(setup)
            _ = try await setup.database.query(SQL(stringLiteral: change))
            expectRefused(try await relay.purchase(TestPurchase(email: Self.ben, original: original)))
            #expect(try await control.payments(of: Self.ben).isEmpty)
        }
    }

    private func hasLedger(_ setup: Setup) async throws {
        try await Awaiting.fact("the subscription has a ledger that runs", is: 1) {
            try await setup.database.query("SELECT count(*) FROM ledgers WHERE status = 1")[0].get(0, as: Int64.self)
        }
    }

    /// Both are accepted before either is granted.
    @Test func aSecondCustomerIsNotSentWhileTheFirstIsPending() async throws {
        try await run("refuse", grantAfter: 2) { setup, control in
            let (relay, original) = (setup.relay, TestPurchase.newTransactionID())
            let first = try await relay.pursue(Self.ana, original: original)
            try await Awaiting.fact("the first is sent", is: 1) { try await control.payments(of: Self.ana).count }
            let second = try await relay.pursue(Self.ben, original: original)
            let rejected = try await relay.becomes("rejected", second)
            #expect(rejected["reason"].string == "owned_by_another")
            #expect(try await relay.poll(first).json["status"].string == "granted")
            #expect(try await control.payments(of: Self.ben).isEmpty)
        }
    }

    @Test func aTokenOfTheCustomersMovesAppleSubscriptions() async throws {
        let store = try TestAppStore()
        defer { store.end() }
        let settings = store.settings(relayingTo: nil, ["RELAY_TRANSFER_POLICY": "require-token"])
        try await Setup.run(settings: settings) { setup in
            let relay = setup.relay
            var life = try store.subscription()
            life.appAccountToken = Self.tokenOfBen
            life.bought(at: Date())
            let first = try #require(
                try await relay.purchase(store.purchase(life, email: Self.ana)).json["validationId"].string)
            _ = try await relay.becomes("granted", first)
            expectRefused(try await relay.purchase(store.purchase(life, email: "cleo@example.test")))
            let second = try await relay.purchase(store.purchase(life, email: Self.ben))
            let id = try #require(second.json["validationId"].string, "\(second.text)")
            _ = try await relay.becomes("granted", id)
            _ = try await relay.becomes("transferred", first)
        }
    }

    @Test func aTokenOfTheCustomersMovesGooglesSubscriptions() async throws {
        try await GoogleScene.run(["RELAY_TRANSFER_POLICY": "require-token"]) { scene in
            let first = try await scene.buy("token-1", #"{"accountId":"\#(Self.tokenOfBen.lowercased())"}"#)
            expectRefused(try await scene.answer(to: "token-1", by: "cleo@example.test"))
            let second = try await scene.post("token-1", by: Self.ben)
            _ = try await scene.setup.relay.becomes("granted", second)
            _ = try await scene.setup.relay.becomes("transferred", first)
        }
    }

    /// The owner's purchase, and one that continues it. The store cannot be asked when another customer posts it.
    @Test(arguments: ["token-1", "token-2"]) func whatTheStoreCouldNotBeAskedAboutWaits(token: String) async throws {
        try await GoogleScene.run(["RELAY_TRANSFER_POLICY": "refuse"]) { scene in
            let (relay, control) = (scene.setup.relay, SimulatorControl(scene.setup.simulator))
            let first = try await scene.buy("token-1")
            try await scene.settled()
            try await scene.google.control(.DELETE, "push")
            for (token, fields) in [("token-2", #"{"linkedPurchaseToken":"token-1"}"#), ("token-3", "{}")] {
                try await scene.google.has(token, fields)
            }
            try await scene.google.trouble(#"{"on":"purchases","status":503}"#)
            let taken = try await scene.post(token, by: Self.ben)
            let free = try await scene.post("token-3", by: "cleo@example.test")
            for id in [taken, free] {
                try await Awaiting.fact("its timeline says why it waits") {
                    try await relay.detail(id)["timeline"].array?.compactMap { $0["detail"].string } ?? []
                } holds: { lines in
                    lines.contains { $0.contains("must not take a subscription over") }
                }
            }
            for customer in [Self.ben, "cleo@example.test"] {
                #expect(try await control.payments(of: customer).isEmpty)
            }
            try await scene.google.trouble(nil)
            #expect(try await relay.becomes("rejected", taken)["reason"].string == "owned_by_another")
            _ = try await relay.becomes("granted", free)
            // The store had not confirmed Cleo's purchase when she posted it.
            expectRefused(try await scene.answer(to: "token-3", by: Self.ben))
            #expect(try await control.payments(of: Self.ben).isEmpty)
            #expect(try await relay.poll(first).json["status"].string == "granted")
        }
    }

    /// Both publishers know the same receipt. One allows transfers, and the other does not.
    @Test func eachPublisherHasAPolicyOfItsOwn() async throws {
        try await AccountScene.run(nordic: "  transfer_policy: refuse") { scene in
            let original = TestPurchase.newTransactionID()
            for nordic in [false, true] {
                let first = try await scene.buy(TestPurchase(email: Self.ana, original: original), nordic: nordic)
                #expect(try await scene.outcome(first, nordic: nordic) == "granted")
            }
            let moved = try await scene.buy(TestPurchase(email: Self.ben, original: original), nordic: false)
            #expect(try await scene.outcome(moved, nordic: false) == "granted")
            let relay = scene.relay
            expectRefused(
                try await relay.purchase(TestPurchase(email: Self.ben, original: original), key: scene.nordicApp))
        }
    }

    /// A validated purchase moves no more than a forwarded one.
    @Test func theValidatorFollowsThePolicy() async throws {
        try await GoogleScene.run(["RELAY_TRANSFER_POLICY": "refuse"]) { scene in
            try await scene.buy("token-1")
            let answer = try await HTTP.post(
                scene.setup.relay.url + "/v1/validate?appName=main&apiKey=\(scene.setup.relay.keys.app)",
                headers: ["Content-Type": "application/json"],
                body: Data(
                    #"{"id":"gold","type":"paid subscription","additionalData":{"applicationUsername":"ben@example.test"},"transaction":{"type":"android-playstore","id":"GPA.1","purchaseToken":"token-1","receipt":"{\"packageName\":\"com.example.app\",\"productId\":\"gold\",\"purchaseToken\":\"token-1\"}"}}"#
                        .utf8))
            #expect(answer.status == 200 && answer.json["ok"].bool == false, "\(answer.text)")
            #expect(answer.json["message"].string?.contains("another customer") == true, "\(answer.text)")
            #expect(try await scene.subscription("token-1")["customerEmail"].string == Self.ana)
        }
    }
}
