import Foundation
import RelayClient
import TestRun
import Testing

/// The client's view of outcomes, with the relay as a separate process and real sockets.
@Suite struct ClientOutcomeTests {
    @Test func aPurchaseIsGranted() async throws {
        try await Setup.run(grantAfter: 0.5) { setup in
            let client = try setup.relay.client()
            var states: [RelayClient.Validation] = []
            var purchase = Purchase("Ana+a@example.test")
            purchase.coupon = " "
            purchase.applicationUsername = "user 42"
            let outcome = try await client.redeem(purchase) { states.append($0) }
            guard case .granted(let until, late: false) = outcome else {
                Issue.record("\(outcome)")
                return
            }
            #expect(try #require(until) > .now)
            #expect(states.map(\.status) == [.pending, .granted])
            #expect(states[0].id == states[1].id)
            #expect(states[0].warnings.map(\.field) == ["couponCode"])
            #expect(abs(states[0].deadline.timeIntervalSince(states[0].receivedAt) - 300) < 0.1)
            let detail = try await setup.relay.detail(states[0].id)
            #expect(detail["applicationUsername"].string == "user 42")

            #expect(try await client.status(of: states[0].id) == states[1])
            #expect(try await client.entitlement(email: "ana+a@example.test", offer: purchase.offer) == states[1])
            #expect(try await client.entitlement(email: "bea@example.test", offer: purchase.offer) == nil)
            // A repeated purchase is the same one, already settled.
            let again = try await client.submit(purchase)
            #expect(again.id == states[0].id)
            #expect(again.outcome == outcome)
        }
    }

    @Test func refusalsAndSilence() async throws {
        try await Setup.run { setup in
            let client = try setup.relay.client()
            async let rejected = client.redeem(Purchase("ana+reject@example.test"))
            async let never = client.redeem(Purchase("bea+never@example.test"))
            guard case .refused(let reason?) = try await rejected else {
                Issue.record("\(try await rejected)")
                return
            }
            #expect(reason.hasPrefix("SIM"), "\(reason)")
            try await Awaiting.fact("it was taken in", is: 2) { try await setup.count("validations") }
            try await setup.database.letDeadlinesCome()
            #expect(try await never == .assumeFailed)
            let last = try await client.entitlement(email: "bea+never@example.test", offer: "S123456789_US")
            #expect(last?.status == .timedOut)
        }
    }

    @Test(.whole) func aFormerOwnerReadsTheTransfer() async throws {
        try await Setup.run { setup in
            let client = try setup.relay.client()
            let original = TestPurchase.newTransactionID()
            let ana = try await client.submit(Purchase("ana@example.test", original: original))
            for try await _ in client.states(of: ana) {}
            let bea = try await client.redeem(Purchase("bea@example.test", original: original))
            guard case .granted = bea else {
                Issue.record("\(bea)")
                return
            }
            let known = try await client.status(of: ana.id)
            #expect(known.status == .transferred)
            #expect(known.outcome == .refused(reason: "transferred"))
            var states: [RelayClient.Validation.Status] = []
            for try await state in client.states(of: ana.id) { states.append(state.status) }
            #expect(states == [.transferred])
        }
    }

    /// Tests the client's two questions by customer against the real relay. Both find a purchase on the web only if a
    /// fresh answer is requested, and both report its end.
    @Test func aCustomersOffersAreReadWithAndWithoutCleeng() async throws {
        try await Setup.run { setup in
            let client = try setup.relay.client()
            let control = SimulatorControl(setup.simulator)
            let (email, web, app) = ("ana+a@example.test", "S598742062_US", "S123456789_US")
            #expect(try await client.entitlements(email: email).isEmpty)
            try await control.entitle(email, to: web, status: "active", until: Date() + 86_400)
            #expect(try await client.entitlement(email: email, offer: web) == nil)
            let found = try #require(try await client.entitlement(email: email, offer: web, fresh: true))
            #expect(found.status == .granted && found.accessGranted && found.offer == web)
            #expect(try #require(found.expiresAt) > .now)
            #expect(try await client.entitlement(email: email, offer: web) == found)
            #expect(try await client.entitlements(email: email) == [found])

            guard case .granted = try await client.redeem(Purchase(email)) else {
                Issue.record("it is not granted")
                return
            }
            let all = try await client.entitlements(email: email)
            #expect(all.map(\.offer) == [app, web], "the newest first")
            #expect(all.allSatisfy { $0.status == .granted && $0.accessGranted })
            #expect(try await client.entitlement(email: email, offer: app) == all.first)

            try await control.entitle(email, to: web, status: "terminated")
            // The customer's turn to be read may come later.
            let fresh = try await Awaiting.fact("Cleeng's end is known") {
                try await client.entitlements(email: email, fresh: true)
            } holds: { list in
                list.contains { $0.offer == web && $0.status == .revoked }
            }
            #expect(fresh.first { $0.offer == web }?.outcome == .refused(reason: "expired"))
            #expect(fresh.first { $0.offer == app }?.status == .granted)
        }
    }

    @Test(.whole) func otherStoresHaveTheSameAPI() async throws {
        try await Setup.run { setup in
            let client = try setup.relay.client()
            let proofs: [Proof] = [
                .googlePlay(productID: "gold", purchaseToken: UUID().uuidString, packageName: "com.example.app"),
                .amazon(receiptID: UUID().uuidString, userID: "user"),
            ]
            for (number, proof) in proofs.enumerated() {
                let outcome = try await client.redeem(
                    Purchase(email: "c\(number)@example.test", offer: "S123456789_US", proof: proof))
                guard case .granted = outcome else {
                    Issue.record("\(proof): \(outcome)")
                    continue
                }
            }
            for path in ["/android/payment", "/amazon/payment"] {
                #expect(try await setup.simulator.requests(path: path).count == 1, "\(path)")
            }
        }
    }

    @Test func errorsNameTheirCause() async throws {
        try await Setup.run { setup in
            var purchase = Purchase("ana")
            purchase.offer = "S 1"
            let client = try setup.relay.client()
            let fields = await #expect(throws: RelayError.self) { try await client.submit(purchase) }
            #expect(fields?.code == .invalidFields)
            #expect(fields?.errors.map(\.field) == ["customerEmail", "offerId"])
            #expect(fields?.isRetryable == false)
            #expect(fields?.mayHaveBeenTaken == false)
            #expect(fields?.requestID?.isEmpty == false)

            let wrong = await #expect(throws: RelayError.self) {
                try await setup.relay.client(key: "rr_app_0000000000000000_x").submit(Purchase("ana@example.test"))
            }
            #expect(wrong?.code == .unknownKey)
            let role = await #expect(throws: RelayError.self) {
                try await setup.relay.client(key: setup.relay.keys.viewer).status(of: Probes.someID)
            }
            #expect(role?.code == .wrongRole)
            let unknown = await #expect(throws: RelayError.self) {
                for try await _ in client.states(of: Probes.someID) {}
            }
            #expect(unknown?.code == .unknownValidation)
            let name = UUID()
            _ = try await client.submit(Purchase("ana@example.test"), idempotencyKey: name)
            let reused = await #expect(throws: RelayError.self) {
                try await client.submit(Purchase("bea@example.test"), idempotencyKey: name)
            }
            #expect(reused?.code == .idempotencyKeyReused)
        }
    }

    @Test func theClientSendsTheCustomersToken() async throws {
        let issuer = CustomerTokenIssuer()
        let folder = try ScratchFolder()
        defer { folder.remove() }
        let file = try folder.write("jwks.json", issuer.jwks)
        try await Setup.run(settings: ["RELAY_CUSTOMER_JWKS_FILE": file]) { setup in
            let token = try issuer.token(email: "ana@example.test")
            let client = try setup.relay.client(customerToken: { token })
            guard case .granted = try await client.redeem(Purchase("ana@example.test")) else {
                Issue.record("it is not granted")
                return
            }
            let another = await #expect(throws: RelayError.self) {
                try await client.submit(Purchase("bea@example.test"))
            }
            #expect(another?.code == .anotherCustomer)
            let without = await #expect(throws: RelayError.self) {
                try await setup.relay.client().submit(Purchase("ana@example.test"))
            }
            #expect(without?.code == .customerTokenRequired)
        }
    }
}
