import Foundation
import Testing

/// Transfers of a subscription between customers.
@Suite struct TransferTests {
    @Test func aGrantToAnotherEmailEndsTheFirstAndARefusalDoesNot() async throws {
        try await Setup.run { setup in
            let relay = setup.relay
            let original = TestPurchase.newTransactionID()
            let ana = try await relay.pursue("ana@example.test", original: original)
            _ = try await relay.becomes("granted", ana)

            // A customer who is rejected, or never granted, takes nothing.
            let never = try await relay.pursue("nea+never@example.test", original: original)
            _ = try await relay.becomes(
                "rejected", try await relay.pursue("rea+reject@example.test", original: original))
            #expect(try await relay.poll(ana).json["status"].string == "granted")
            try await setup.database.letDeadlinesCome()
            _ = try await relay.becomes("timed_out", never)
            #expect(try await relay.poll(ana).json["status"].string == "granted")

            // Another spelling of the email is the same customer.
            let again = try await relay.pursue(
                TestPurchase(email: "  ANA@Example.TEST ", original: original, transactionID: "2000000999999999"))
            #expect(again != ana)
            _ = try await relay.becomes("granted", again)
            #expect(try await relay.poll(ana).json["status"].string == "granted")
            #expect(try await relay.detail(again)["transfer"].isNull)

            let bea = try await relay.pursue("Bea@example.test", original: original)
            _ = try await relay.becomes("granted", bea)
            for old in [ana, again] {
                let ended = try await relay.poll(old).json
                #expect(ended["status"].string == "transferred")
                #expect(ended["accessGranted"].bool == false)
                #expect(try await relay.timeline(old, "transferred").count == 1)
            }
            let transfer = try await relay.detail(bea)["transfer"]
            #expect(transfer.keys == ["from", "to", "fromValidationId", "toValidationId", "at"])
            #expect(transfer["from"].string == "ana@example.test")
            #expect(transfer["to"].string == "bea@example.test")
            #expect(transfer["fromValidationId"].string == again)
            #expect(transfer["toValidationId"].string == bea)
            #expect(transfer["at"].string.flatMap(Date.init(milliseconds:)) != nil)
            #expect(try await relay.detail(again)["transfer"] == transfer)

            // A question by customer and offer returns the new owner's.
            func newest(_ email: String) async throws -> String? {
                try await HTTP.get(
                    relay.url + "/entitlements?customerEmail=\(email)&offerId=S123456789_US",
                    headers: ["Authorization": "Bearer \(relay.keys.app)"]
                ).json["status"].string
            }
            #expect(try await newest("ana@example.test") == "transferred")
            #expect(try await newest("bea@example.test") == "granted")
        }
    }

    /// Calm: every request is answered, but so slowly that requests would overlap if the relay allowed it.
    /// Stormy: most fail at first, so that newer ones overtake older ones that wait.
    @Test(arguments: [
        ["slow-40ms"], ["flaky-1", "slow-40ms", "slow-20ms+lost-answer-1", "reset-1", "throttled-1-bare"],
    ])
    func requestsForOneSubscriptionGoOneAtATimeInTheOrderOfAcceptance(tags: [String]) async throws {
        // In a storm, a newer request may take the subscription before an older one's first read sees access. The older
        // one then waits for its deadline.
        let settings = ["RELAY_VALIDATION_TIMEOUT_SECONDS": tags.count == 1 ? "300" : "60"]
        try await Setup.run(settings: settings) { setup in
            let other = try await Relay.start(
                database: setup.database, simulator: setup.simulator, keys: setup.relay.keys, settings: settings)
            try await other.during {
                try await crowd(setup, other: other, tags: tags, isCalm: tags.count == 1)
            }
        }
    }

    private func crowd(_ setup: Setup, other: Relay, tags: [String], isCalm: Bool) async throws {
        let relay = setup.relay
        let control = SimulatorControl(setup.simulator)
        let original = TestPurchase.newTransactionID()
        let accepted = try await withThrowingTaskGroup(of: (email: String, id: String).self) { group in
            for index in 0..<14 {
                let copy = index.isMultiple(of: 2) ? relay : other
                let email = "c\(index)+\(tags[index % tags.count])@example.test"
                group.addTask { (email, try await copy.pursue(email, original: original)) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        for (_, id) in accepted { _ = try await relay.outcome(id) }
        let statuses = try await Awaiting.fact("exactly one has it") {
            var statuses: [String: String] = [:]
            for (email, id) in accepted { statuses[email] = try await other.poll(id).json["status"].string }
            return statuses
        } holds: { statuses in
            statuses.values.filter { $0 == "granted" }.count == 1
                && statuses.values.allSatisfy { ["granted", "transferred", "timed_out"].contains($0) }
        }

        let stats = try await control.stats()
        #expect(stats["overlappingForwards"].int == 0)
        #expect(stats["maxConcurrentForwardsPerSubscription"].int == 1)
        var received: [String: String] = [:]
        for (email, id) in accepted { received[email] = try await relay.poll(id).json["receivedAt"].string }
        let order = try await control.payments().compactMap { $0.email.flatMap { received[$0] } }
        #expect(order == order.sorted())
        // A request is never sent if it was committed after the other copy had sent a newer one.
        let overtaken = statuses.values.count { $0 == "timed_out" }
        if isCalm { #expect(order.count == 14 - overtaken) }

        // Both copies show the newest request's customer as the owner.
        let owner = try #require(statuses.first { $0.value == "granted" }).key
        #expect(received[owner] == received.values.max())
        #expect(try await control.subscription(original)["customerEmail"].string == owner)
        for (email, id) in accepted where statuses[email] == "timed_out" {
            let reason = try await relay.poll(id).json["reason"].string
            #expect(reason == "superseded" || (!isCalm && reason == nil))
        }
    }

    /// The first try's answer is lost and the next ones fail, so the relay does not know that Cleeng has accepted it.
    /// Then another email posts the same receipt and never gets access.
    @Test func anOvertakenRequestThatCleengGrantsIsGranted() async throws {
        let settings = ["RELAY_VALIDATION_TIMEOUT_SECONDS": "300", "RELAY_POLL_INTERVAL_SECONDS": "1"]
        try await Setup.run(settings: settings) { setup in
            let relay = setup.relay
            let control = SimulatorControl(setup.simulator)
            let original = TestPurchase.newTransactionID()
            try await control.behave("ana@example.test", "lost-answer-1", "flaky", "after-6s")
            let ana = try await relay.pursue("ana@example.test", original: original)
            _ = try await Awaiting.fact("it waits for its second retry at least") {
                try await relay.detail(ana)
            } holds: {
                ($0["attempts"].int ?? 0) >= 2 && $0["leaseOwner"].isNull
            }
            try await control.behave("bea@example.test", "never")
            let bea = try await relay.pursue("bea@example.test", original: original)
            let superseded = try await relay.becomes("timed_out", ana)
            #expect(superseded["reason"].string == "superseded")
            let granted = try await relay.becomes("granted", ana)
            #expect(granted["late"].bool == true)
            #expect(try await relay.poll(bea).json["accessGranted"].bool == false)
            let sent = try await control.payments()
            let sentBea = try #require(sent.firstIndex { $0.email == "bea@example.test" })
            #expect(!sent[sentBea...].contains { $0.email == "ana@example.test" })
        }
    }

    /// The owner's other purchase is read every interval, each time just before the question about the owner is due.
    @Test func aQuestionAboutTheOwnerIsAskedBetweenTheOwnersReads() async throws {
        let settings = ["RELAY_VALIDATION_TIMEOUT_SECONDS": "60", "RELAY_POLL_INTERVAL_SECONDS": "1"]
        try await Setup.run(settings: settings) { setup in
            let (relay, control) = (setup.relay, SimulatorControl(setup.simulator))
            let original = TestPurchase.newTransactionID()
            let ana = try await relay.pursue("ana@example.test", original: original)
            _ = try await relay.becomes("granted", ana)
            // Bea has the offer already, so only Cleeng's answer about Ana shows that the subscription has moved.
            _ = try await relay.becomes("granted", try await relay.pursue("bea@example.test"))
            try await control.behave("ana@example.test", "never")
            _ = try await relay.pursue("ana@example.test", offer: "S987654321_US")
            _ = try await Awaiting.fact("Ana is read on and on", is: true) {
                try await control.reads(of: "ana@example.test").count > 4
            }
            let before = try await control.reads(of: "bea@example.test").count
            let bea = try await relay.pursue(
                TestPurchase(
                    email: "bea@example.test", original: original, transactionID: TestPurchase.newTransactionID()))
            _ = try await relay.becomes("granted", bea)
            #expect(try await relay.poll(ana).json["status"].string == "transferred")
            #expect(try await control.reads(of: "bea@example.test").count - before < 10)
        }
    }

    @Test func anOlderRequestThatWaitsIsOvertakenAndNeverSentAgain() async throws {
        try await Setup.run(settings: ["RELAY_VALIDATION_TIMEOUT_SECONDS": "300"]) { setup in
            let relay = setup.relay
            let control = SimulatorControl(setup.simulator)
            let original = TestPurchase.newTransactionID()
            let purchase = TestPurchase(email: "ana@example.test", original: original)
            try await control.behave("ana@example.test", "throttled")
            let ana = try await relay.pursue(purchase)
            let heldBack = try await Awaiting.fact("it waits for its second retry at least") {
                try await relay.detail(ana)
            } holds: {
                ($0["attempts"].int ?? 0) >= 2 && $0["leaseOwner"].isNull
            }
            #expect(heldBack["status"].string == "pending")

            let bea = try await relay.pursue("bea@example.test", original: original)
            _ = try await relay.becomes("granted", bea)
            let superseded = try await relay.becomes("timed_out", ana)
            #expect(superseded["reason"].string == "superseded")
            #expect(superseded["accessGranted"].bool == false)
            let sent = try await control.payments()
            let sentBea = try #require(sent.firstIndex { $0.email == "bea@example.test" })
            #expect(!sent[sentBea...].contains { $0.email == "ana@example.test" })
            #expect(try await relay.events(ana).contains("superseded"))
            // The relay still looks for Cleeng's grant, but can no longer send the purchase.
            #expect(try await relay.detail(ana)["nextStepAt"].isNull == false)
            #expect(try await relay.opsPost("/ops/validations/\(ana)/retry").status == 409)

            // Ana buys again from her own device and gets the subscription.
            try await control.behave("ana@example.test")
            let fresh = try await relay.pursue(purchase)
            #expect(fresh != ana)
            _ = try await relay.becomes("granted", fresh)
            #expect(try await relay.poll(bea).json["status"].string == "transferred")
            #expect(try await relay.becomes("granted", ana)["late"].bool == true)
            #expect(try await control.subscription(original)["customerEmail"].string == "ana@example.test")
            #expect(try await control.payments(of: "ana@example.test").last?.status == 200)
        }
    }
}
