import Crypto
import Foundation
import Testing

/// Tests of `POST /cleeng/webhooks` of the whole service.
@Suite struct CleengEventTests {
    private static let secret = "a-shared-secret-of-the-tests"
    private static let offer = "S123456789_US"

    /// Cleeng grants nothing by itself and is read rarely, so only an event can end a wait.
    private func run(
        _ more: [String: String] = [:], behaviour: String = "never",
        _ body: (Setup, SimulatorControl) async throws -> Void
    ) async throws {
        var settings = [
            "RELAY_CLEENG_WEBHOOK_SECRET": Self.secret, "RELAY_POLL_INTERVAL_SECONDS": "20",
            "RELAY_VALIDATION_TIMEOUT_SECONDS": "300", "RELAY_CLEENG_DRIVER": "receipt",
        ]
        settings.merge(more, uniquingKeysWith: { $1 })
        try await Setup.run(settings: settings) { setup in
            let control = SimulatorControl(setup.simulator)
            for email in ["ana@example.test", "ben@example.test", "eve@example.test"] {
                try await control.behave(email, behaviour)
            }
            try await body(setup, control)
        }
    }

    private func signature(_ body: Data, secret: String = Self.secret) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: body, using: SymmetricKey(data: Data(secret.utf8))))
    }

    private func send(_ text: String, to relay: Relay, header: String? = nil) async throws -> HTTP.Answer {
        try await relay.cleengEvent(Data(text.utf8), secret: Self.secret, signature: header)
    }

    private func event(_ topic: String, _ data: String) -> String {
        #"{"broadcasterId":123456789,"topic":"\#(topic)","data":{\#(data)}}"#
    }

    private func buy(_ setup: Setup, _ email: String, extra: [String: Any] = [:]) async throws -> String {
        let purchase = TestPurchase(email: email)
        let before = try await setup.simulator.requests(path: "/apple/payment", customerEmail: email).count
        var object = try #require(try JSONSerialization.jsonObject(with: purchase.body) as? [String: Any])
        object.merge(extra, uniquingKeysWith: { $1 })
        let answer = try await setup.relay.post(try JSONSerialization.data(withJSONObject: object))
        let id = try #require(answer.json["validationId"].string, "\(answer.text)")
        try await Awaiting.fact("Cleeng has it", is: before + 1) {
            try await setup.simulator.requests(path: "/apple/payment", customerEmail: email).count
        }
        return id
    }

    @Test(arguments: [
        "SubscriptionCreated", "SubscriptionTransferred", "SubscriptionSynchronized", "SubscriptionRevived",
    ]) func aValidationThatSucceededEndsTheWaitAtOnce(result: String) async throws {
        try await run { setup, _ in
            let id = try await buy(setup, "ana@example.test")
            let held = Task { try await setup.relay.poll(id, wait: 60).json }
            // The signature is over all bytes, a byte order mark included.
            let mark = result == "SubscriptionRevived" ? "\u{FEFF}" : ""
            let answer = try await send(
                mark
                    + event(
                        "inappPurchaseValidationSucceeded",
                        #""result":"\#(result)","offerId":"\#(Self.offer)","active":true,"customerEmail":"Ana@example.test","expirationDate":"2030-01-01T00:00:00+01:00""#
                    ), to: setup.relay)
            #expect(answer.status == 200)
            let told = try await held.value
            #expect(told["status"].string == "granted")
            #expect(told["expiresAt"].string == "2029-12-31T23:00:00.000Z")
            let detail = try await setup.relay.detail(id)
            #expect(detail["evidence"]["topic"].string == "inappPurchaseValidationSucceeded")
            #expect(detail["evidence"]["result"].string == result)
            #expect(try await setup.relay.events(id).suffix(2) == ["cleeng_event", "granted"])
        }
    }

    /// Eve posts under Ana's number. Cleeng names Ana for it, so an event about it is Ana's alone, whether or not she
    /// has posted it too.
    @Test func anEventByNumberIsForTheCustomerWhomCleengNames() async throws {
        try await run { setup, control in
            let ana = try await buy(setup, "ana@example.test")
            let number = try await control.number(of: "ana@example.test")
            let eve = try await buy(setup, "eve@example.test", extra: ["cleengCustomerId": number])
            func succeeded(_ customer: Int) -> String {
                event(
                    "inappPurchaseValidationSucceeded",
                    #""result":"SubscriptionCreated","offerId":"\#(Self.offer)","active":true,"customerId":\#(customer)"#
                )
            }
            // An unknown customer number has no effect.
            #expect(try await send(succeeded(999_999_999), to: setup.relay).status == 200)
            #expect(try await send(succeeded(number), to: setup.relay).status == 200)
            #expect(try await setup.relay.outcome(ana)["status"].string == "granted")
            try await setup.relay.hasHandledEvents(2)
            #expect(try await setup.relay.status(eve)["status"].string == "pending")
        }
    }

    /// The event names Ana's email and number: it says nothing of a purchase that Eve posted under that number.
    @Test func anEventThatNamesAnEmailIsNobodyElses() async throws {
        try await run { setup, control in
            let number = try await control.number(of: "ana@example.test")
            let eve = try await buy(setup, "eve@example.test", extra: ["cleengCustomerId": number])
            let text = event(
                "subscriptionCreated",
                #""offerId":"\#(Self.offer)","customerEmail":"ana@example.test","customerId":\#(number)"#)
            #expect(try await send(text, to: setup.relay).status == 200)
            try await setup.relay.hasHandledEvents(1)
            #expect(try await setup.relay.status(eve)["status"].string == "pending")
        }
    }

    @Test func aFailureRejectsByAReadAndASynchronizationOfAnotherPurchaseDoesNot() async throws {
        try await run(["RELAY_POLL_INTERVAL_SECONDS": "1"]) { setup, control in
            let failed = try await buy(setup, "ana@example.test")
            let text = event(
                "inappPurchaseValidationFailed",
                #""offerId":"\#(Self.offer)","customerEmail":"ana@example.test","errorCode":"RECEIPT_EXPIRED""#)
            #expect(try await send(text, to: setup.relay).status == 200)
            let outcome = try await setup.relay.outcome(failed)
            #expect(outcome["status"].string == "rejected")
            #expect(outcome["reason"].string == "receipt_expired")
            #expect(
                try await setup.relay.events(failed).suffix(3) == ["cleeng_event", "entitlement_read", "rejected"])
            let other = try await buy(setup, "ben@example.test")
            let number = try await control.number(of: "ben@example.test")
            let sync = event(
                "inappPurchaseSyncResult",
                #""synchronizationId":"x","cleengCustomerId":\#(number),"accessGranted":false,"offerId":"\#(Self.offer)","result":"RECEIVED_EXPIRED_PURCHASE""#
            )
            #expect(try await send(sync, to: setup.relay).status == 200)
            try await setup.relay.hasHandledEvents(2)
            #expect(try await setup.relay.status(other)["status"].string == "pending")
        }
    }

    /// The event does not name the refused purchase. With `never`, neither purchase is entitled.
    @Test func aFailureOfOneOfTwoPurchasesRejectsNeither() async throws {
        try await run(["RELAY_POLL_INTERVAL_SECONDS": "1"]) { setup, _ in
            let ids = [try await buy(setup, "ana@example.test"), try await buy(setup, "ana@example.test")]
            let text = event(
                "inappPurchaseValidationFailed",
                #""offerId":"\#(Self.offer)","customerEmail":"ana@example.test","errorCode":"RECEIPT_EXPIRED""#)
            #expect(try await send(text, to: setup.relay).status == 200)
            try await setup.relay.hasHandledEvents(1)
            for id in ids {
                func reads() async throws -> Int {
                    try await setup.relay.events(id).count { $0 == "entitlement_read" }
                }
                let before = try await reads()
                // The first of the two reads may have been running at the time of the event.
                try await Awaiting.fact("Cleeng was asked twice after the event") {
                    try await reads()
                } holds: {
                    $0 >= before + 2
                }
                #expect(try await setup.relay.status(id)["status"].string == "pending")
            }
        }
    }

    @Test func anotherOffersEventEndsNoWaitAndUnknownTopicsAreStored() async throws {
        try await run { setup, _ in
            let id = try await buy(setup, "ana@example.test")
            let other = event(
                "subscriptionCreated", #""offerId":"S987654321_US","customerEmail":"ana@example.test""#)
            let unknown = event("somethingOfNextYear", #""offerId":"\#(Self.offer)","email":"ana@example.test""#)
            for text in [other, unknown, "{}", "[1]", #"{"topic":7}"#] {
                let answer = try await send(text, to: setup.relay)
                #expect(answer.status == 200, "\(text): \(answer.text)")
                #expect(answer.text == "{}")
            }
            try await setup.relay.hasHandledEvents(5)
            #expect(try await setup.relay.status(id)["status"].string == "pending")
            let metrics = try await setup.relay.metrics()
            #expect(metrics.contains(#"cleeng_events_total{result="stored"} 5"#))
            #expect(try await send(other, to: setup.relay).status == 200)
            let again = try await setup.relay.metrics()
            #expect(again.contains(#"cleeng_events_total{result="repeated"} 1"#))
        }
    }

    @Test func aSubscriptionThatCleengEndsIsRevoked() async throws {
        try await run(["RELAY_POLL_INTERVAL_SECONDS": "0.3"], behaviour: "after-0") { setup, _ in
            let id = try await buy(setup, "ana@example.test")
            #expect(try await setup.relay.outcome(id)["status"].string == "granted")
            // Cleeng itself does not confirm the end: the event is late, or about another subscription.
            let late = event("subscriptionTerminated", #""offerId":"\#(Self.offer)","email":"ana@example.test","n":0"#)
            #expect(try await send(late, to: setup.relay).status == 200)
            try await setup.relay.hasHandledEvents(1)
            #expect(try await setup.relay.status(id)["status"].string == "granted")
            try await entitle(setup, "terminated")
            let ended = event("subscriptionTerminated", #""offerId":"\#(Self.offer)","email":"ana@example.test""#)
            #expect(try await send(ended, to: setup.relay).status == 200)
            let poll = try await Awaiting.fact("it is over") {
                try await setup.relay.status(id)
            } holds: {
                $0["status"].string == "revoked"
            }
            #expect(poll["reason"].string == "expired")
            try await entitle(setup, "active")
            let created = event("subscriptionCreated", #""offerId":"\#(Self.offer)","email":"ana@example.test""#)
            #expect(try await send(created, to: setup.relay).status == 200)
            try await Awaiting.fact("it runs again", is: "granted") {
                try await setup.relay.status(id)["status"].string
            }
        }
    }

    /// One read of the customer answers for both. With a read for each, the second would never be reached: the first is
    /// read again whenever the customer's turn comes.
    @Test func bothOfACustomersSubscriptionsToOneOfferEndByOneEvent() async throws {
        try await run(["RELAY_POLL_INTERVAL_SECONDS": "2"], behaviour: "after-0") { setup, control in
            let ids = [try await buy(setup, "ana@example.test"), try await buy(setup, "ana@example.test")]
            for id in ids { #expect(try await setup.relay.outcome(id)["status"].string == "granted") }
            for _ in ids { try await entitle(setup, "terminated") }
            let reads = try await control.reads(of: "ana@example.test").count
            let ended = event("subscriptionTerminated", #""offerId":"\#(Self.offer)","email":"ana@example.test""#)
            #expect(try await send(ended, to: setup.relay).status == 200)
            for id in ids { #expect(try await setup.relay.becomes("revoked", id)["reason"].string == "expired") }
            try await setup.relay.hasHandledEvents(1)
            #expect(try await control.reads(of: "ana@example.test").count == reads + 1)
        }
    }

    private func entitle(_ setup: Setup, _ status: String) async throws {
        let answer = try await HTTP.post(
            setup.simulator.url + "/_simulator/customers/ana@example.test/entitlements",
            body: Data(#"{"offerId":"\#(Self.offer)","status":"\#(status)"}"#.utf8))
        #expect(answer.status == 200)
    }

    @Test func aBadSignatureIs401BadJSON400AndWithoutASecret404() async throws {
        try await run { setup, _ in
            let text = event("subscriptionCreated", #""offerId":"\#(Self.offer)","email":"ana@example.test""#)
            let other = signature(Data(text.utf8), secret: "another").map { String(format: "%02x", $0) }.joined()
            for header in [other, "", "zz", String(repeating: "a", count: 64), String(other.dropLast())] {
                let answer = try await send(text, to: setup.relay, header: header)
                #expect(answer.status == 401, "\(header)")
                #expect(answer.json["code"].string == "bad_signature")
            }
            let noJSON = try await send("topic=x", to: setup.relay)
            #expect(noJSON.status == 400 && noJSON.json["code"].string == "not_json")
            #expect(!setup.relay.process.output.contains { $0.contains(Self.secret) })
        }
        try await Setup.run { setup in
            let answer = try await send("{}", to: setup.relay)
            #expect(answer.status == 404)
        }
    }

    @Test func headerAndEncodingAreAsConfigured() async throws {
        let settings = [
            "RELAY_CLEENG_WEBHOOK_SIGNATURE_HEADER": "X-Other-Signature",
            "RELAY_CLEENG_WEBHOOK_SIGNATURE_ENCODING": "base64",
        ]
        try await run(settings) { setup, _ in
            let body = Data("{}".utf8)
            let code = Data(signature(body)).base64EncodedString()
            for (header, status) in [("X-Other-Signature", 200), ("X-Cleeng-Signature", 401)] {
                let answer = try await HTTP.post(
                    setup.relay.url + "/cleeng/webhooks", headers: [header: code], body: body)
                #expect(answer.status == status)
            }
        }
    }

    /// If such an event crashed a copy, it would crash all others too.
    @Test func anInvalidEndEndsTheWaitWithoutAnEnd() async throws {
        try await run { setup, control in
            let ends = [
                ("9223372036854775807", nil), ("-9223372036854775808", nil), (#""9223372036854775807""#, nil),
                (#""-9223372036854775808""#, nil), ("253402300800000", nil), (#""253402300800000""#, nil),
                ("1e300", nil),
                (#""0001-01-01T00:00:00Z""#, nil), ("253402300799000", "9999-12-31T23:59:59.000Z"),
                ("4102444800000", "2100-01-01T00:00:00.000Z"), (#""4102444800000""#, "2100-01-01T00:00:00.000Z"),
                ("4102444800", "2100-01-01T00:00:00.000Z"),
            ]
            for (number, (end, told)) in ends.enumerated() {
                let email = "c\(number)@example.test"
                try await control.behave(email, "never")
                let id = try await buy(setup, email)
                let text = event(
                    "inappPurchaseValidationSucceeded",
                    #""result":"SubscriptionCreated","offerId":"\#(Self.offer)","customerEmail":"\#(email)","expirationDate":\#(end)"#
                )
                #expect(try await send(text, to: setup.relay).status == 200)
                let outcome = try await setup.relay.outcome(id)
                #expect(outcome["status"].string == "granted", "\(end)")
                #expect(outcome["expiresAt"].string == told, "\(end)")
                try await setup.relay.hasHandledEvents(number + 1)
            }
        }
    }

    /// PostgreSQL's text cannot hold a NUL.
    @Test func anEventWithNULsIsStored() async throws {
        try await run(["RELAY_POLL_INTERVAL_SECONDS": "1"]) { setup, _ in
            let id = try await buy(setup, "ana@example.test")
            let nul = #"\u0000"#
            let texts = [
                #"{"topic":"\#(nul)"}"#, event("subscriptionCreated\(nul)", #""offerId":"\#(Self.offer)""#),
                event("subscriptionCreated", #""offerId":"\#(Self.offer)\#(nul)","email":"ana@example.test""#),
                event("subscriptionTerminated", #""offerId":"\#(Self.offer)","email":"ana@example.test\#(nul)b""#),
                event(
                    "inappPurchaseSyncResult",
                    #""synchronizationId":"\#(nul)","accessGranted":false,"offerId":"\#(nul)""#),
                event(
                    "inappPurchaseValidationFailed",
                    #""offerId":"\#(Self.offer)","customerEmail":"ana@example.test","errorCode":"a\#(nul)b","result":"\#(nul)""#
                ),
            ]
            for text in texts {
                let answer = try await send(text, to: setup.relay)
                #expect(answer.status == 200, "\(text): \(answer.text)")
            }
            try await setup.relay.hasHandledEvents(texts.count)
            #expect(try await setup.relay.outcome(id)["status"].string == "rejected")
        }
    }

    @Test(arguments: [(0, 422), (-5, 422), (1, 202)]) func aCustomersNumberMustBePositive(
        number: Int, status: Int
    ) async throws {
        try await run { setup, _ in
            var object = try #require(
                try JSONSerialization.jsonObject(with: TestPurchase(email: "ana@example.test").body) as? [String: Any])
            object["cleengCustomerId"] = number
            let answer = try await setup.relay.post(try JSONSerialization.data(withJSONObject: object))
            #expect(answer.status == status, "\(answer.text)")
            object["cleengCustomerId"] = "seven"
            let text = try await setup.relay.post(try JSONSerialization.data(withJSONObject: object))
            #expect(text.status == 422)
            #expect(text.json["errors"][0]["field"].string == "cleengCustomerId")
        }
    }
}
