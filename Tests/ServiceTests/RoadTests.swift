import Testing

/// Tests of a purchase from its receipt to the grant, over real sockets, with PostgreSQL and the simulator as a
/// separate process.
@Suite struct RoadTests {
    @Test func aPurchaseIsAcceptedForwardedAndGranted() async throws {
        try await Setup.run(grantAfter: 0.5) { setup in
            let purchase = TestPurchase(email: "Ana@example.test")
            let accepted = try await setup.relay.purchase(purchase)
            #expect(accepted.status == 202)
            let id = try #require(accepted.json["validationId"].string)
            #expect(accepted.header("Location") == "/entitlements/\(id)")

            let outcome = try await setup.relay.outcome(id)
            #expect(outcome["status"].string == "granted")
            #expect(outcome["accessGranted"].bool == true)
            #expect(outcome["late"].bool == false)

            let detail = try await setup.relay.detail(id)
            #expect(detail["originalTransactionId"].string == purchase.transactionID)
            #expect(detail["receiptReadable"].bool == true)
            #expect(detail["entitledBefore"].bool == false)
            #expect(
                try await setup.relay.events(id).filter { $0 != "entitlement_read" }
                    == ["accepted", "baseline_read", "forwarded", "granted"])
            #expect(try await setup.simulator.requests(path: "/apple/payment").count == 1)
        }
    }

    @Test func theSubscriptionMovesToANewEmail() async throws {
        try await Setup.run { setup in
            let original = TestPurchase.newTransactionID()
            let first = try #require(
                try await setup.relay.purchase(TestPurchase(email: "ana@example.test", original: original))
                    .json["validationId"].string)
            #expect(try await setup.relay.outcome(first)["status"].string == "granted")
            let second = try #require(
                try await setup.relay.purchase(TestPurchase(email: "bea@example.test", original: original))
                    .json["validationId"].string)
            #expect(try await setup.relay.outcome(second)["status"].string == "granted")

            let old = try await setup.relay.poll(first).json
            #expect(old["status"].string == "transferred")
            #expect(old["accessGranted"].bool == false)
            let transfer = try await setup.relay.detail(second)["transfer"]
            #expect(transfer["fromValidationId"].string == first)
            #expect(transfer["toValidationId"].string == second)
        }
    }
}
