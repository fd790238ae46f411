import Foundation
import Testing

/// The requests to Cleeng, and the effects of its answers.
@Suite struct ForwardTests {
    @Test func cleengGetsItsOwnFieldsAndTheTokenAndNothingElse() async throws {
        try await Setup.run(settings: ["RELAY_CLEENG_DRIVER": "receipt"]) { setup in
            let relay = setup.relay
            let control = SimulatorControl(setup.simulator)
            var full = TestPurchase(email: "Ana.Maria@Example.test", transactionID: "2000000123456789")
            full.extra = [
                "appType": "tvos", "ipAddress": "203.0.113.7", "couponCode": "SPRING 50%",
                "applicationUsername": "user-7",
                "cleengCustomerId": "12", "publisherToken": "x", "unknown": "y",
            ]
            let plain = TestPurchase(email: "bea@example.test")
            for purchase in [full, plain] { _ = try await relay.becomes("granted", try await relay.pursue(purchase)) }

            let sent = try await control.payments()
            #expect(sent.count == 2)
            for request in sent {
                #expect(request.json["method"].string == "POST")
                #expect(request.json["path"].string == "/apple/payment")
                #expect(request.json["publisherToken"].string == "present")
                #expect(request.json["headers"]["content-type"].string == "application/json")
                #expect(request.json["headers"]["authorization"].isNull)
                #expect(request.json["body"]["receipt"].keys == ["transactionId", "receiptData"])
            }
            let body = try #require(sent.first { $0.json["body"]["appType"].string == "tvos" }).json["body"]
            #expect(
                body.keys == ["customerEmail", "offerId", "receipt", "appType", "ipAddress", "couponCode"])
            #expect(body["customerEmail"].string == "Ana.Maria@Example.test")
            #expect(body["offerId"].string == full.offer)
            #expect(body["receipt"]["transactionId"].string == "2000000123456789")
            #expect(body["receipt"]["receiptData"]["length"].int == full.receipt.utf8.count)
            #expect(body["receipt"]["receiptData"]["originalTransactionId"].string != nil)
            #expect(body["ipAddress"].string == "203.0.113.7")
            #expect(body["couponCode"].string == "SPRING 50%")
            let other = try #require(sent.first { $0.email == "bea@example.test" }).json["body"]
            #expect(other.keys.isSubset(of: ["customerEmail", "offerId", "receipt", "appType", "ipAddress"]))
            #expect(other["appType"].string == "ios")
        }
    }

    @Test func onlyARefusalByCleengRejects() async throws {
        try await Setup.run { setup in
            let relay = setup.relay
            for (tag, status) in [("reject", 400), ("reject-422", 422)] {
                let id = try await relay.pursue("rea+\(tag)@example.test")
                let answer = try await relay.becomes("rejected", id)
                #expect(answer["accessGranted"].bool == false)
                #expect(answer["late"].bool == false)
                let forward = try #require(try await relay.timeline(id, "forwarded").first)
                #expect(forward["upstreamStatus"].int == status)
                let detail = try #require(forward["detail"].string)
                let said = try #require(try await setup.said(to: "rea+\(tag)@example.test"))
                #expect(answer["reason"].string == said.code)
                #expect(detail.contains(said.code) && detail.contains(said.message))
                #expect(try await SimulatorControl(setup.simulator).payments(of: "rea+\(tag)@example.test").count == 1)
            }
        }
    }

    @Test func aConfigurationErrorRejectsNoPurchaseAndIsLogged() async throws {
        try await Setup.run(settings: ["RELAY_VALIDATION_TIMEOUT_SECONDS": "300"]) { setup in
            let relay = setup.relay
            let control = SimulatorControl(setup.simulator)
            var ids: [String] = []
            for tag in ["unauthorized-2", "forbidden-2", "notfound-2"] {
                ids.append(try await relay.pursue("ana+\(tag)@example.test"))
            }
            for (id, status) in zip(ids, [401, 403, 404]) {
                #expect(try await relay.becomes("granted", id)["late"].bool == false)
                let failed = try await relay.timeline(id, "forward_failed")
                #expect(failed.map { $0["upstreamStatus"].int } == [status, status])
                #expect(try await relay.detail(id)["attempts"].int == 3)
            }

            try await control.trouble("unauthorized")
            let kept = try await relay.pursue("bea@example.test")
            let summary = try await Awaiting.fact("the summary says misconfigured") {
                try await relay.ops("/ops/summary").json
            } holds: {
                $0["upstream"]["state"].string == "misconfigured"
            }
            #expect(summary["upstream"]["lastError"].string?.isEmpty == false)
            #expect(summary["upstream"]["since"].string.flatMap(Date.init(milliseconds:)) != nil)
            #expect(summary["backlog"]["forwarding"].int == 1)
            try await relay.process.says("\"critical\"", "configuration")
            #expect(!relay.process.output.contains { $0.contains(Simulator.token) })
            #expect(try await relay.poll(kept).json["status"].string == "pending")

            try await control.heal()
            _ = try await relay.becomes("granted", kept)
            try await Awaiting.fact("the summary says ok again", is: "ok") {
                try await relay.ops("/ops/summary").json["upstream"]["state"].string
            }
        }
    }

    @Test func temporaryErrorsAreRetriedUntilAccepted() async throws {
        let settings = ["RELAY_UPSTREAM_TIMEOUT_SECONDS": "5"]
        try await Setup.run(settings: settings) { setup in
            let relay = setup.relay
            let control = SimulatorControl(setup.simulator)
            // Behaviour, number of requests, and shortest pause before the second one.
            let cases: [(tag: String, sent: Int, pause: TimeInterval)] = [
                ("flaky-3", 4, 0.2), ("down-1", 2, 0.2), ("status-408-1", 2, 0.2), ("status-502-1", 2, 0.2),
                ("throttled-1", 2, 1), ("throttled-1-date", 2, 1), ("throttled-1-bare", 2, 0.2), ("hang-1", 2, 0.2),
                ("reset-1", 2, 0.2), ("lost-answer-1", 2, 0.2), ("payment-garbage-1", 1, 0),
            ]
            // Failures of five customers in a row would look like an outage, so fewer run at a time.
            for begin in stride(from: 0, to: cases.count, by: 4) {
                try await passes(Array(cases[begin..<min(begin + 4, cases.count)]), relay, control)
            }
            let pauses = try await control.payments(of: "ana+flaky-3@example.test").pauses
            for (index, pause) in pauses.enumerated() {
                #expect(pause >= 0.24 * Double(1 << index), "a pause of \(pause) s after failure \(index + 1)")
            }
            #expect(try await control.stats()["overlappingForwards"].int == 0)
        }
    }

    private func passes(
        _ cases: [(tag: String, sent: Int, pause: TimeInterval)], _ relay: Relay, _ control: SimulatorControl
    ) async throws {
        var ids: [String] = []
        for (tag, _, _) in cases { ids.append(try await relay.pursue("ana+\(tag)@example.test")) }
        for (id, expected) in zip(ids, cases) {
            let answer = try await relay.becomes("granted", id)
            #expect(answer["late"].bool == false, "\(expected.tag)")
            let sent = try await control.payments(of: "ana+\(expected.tag)@example.test")
            #expect(sent.count == expected.sent, "\(expected.tag)")
            #expect(try await relay.detail(id)["attempts"].int == expected.sent, "\(expected.tag)")
            #expect(
                try await relay.timeline(id, "forward_failed").count == expected.sent - 1, "\(expected.tag)")
            if let pause = sent.pauses.first { #expect(pause >= expected.pause - 0.01, "\(expected.tag)") }
            // Each request has the same body.
            #expect(Set(sent.map { $0.json["body"].description }).count == 1, "\(expected.tag)")
        }
    }
}

extension Setup {
    /// The simulator's answer to a customer whom it rejects.
    fileprivate func said(to email: String) async throws -> (code: String, message: String)? {
        let answer = try await HTTP.post(
            simulator.url + "/apple/payment", headers: ["X-Publisher-Token": Simulator.token],
            body: TestPurchase(email: email.replacingOccurrences(of: "rea", with: "another")).body)
        guard let code = answer.json["code"].string, let message = answer.json["message"].string else { return nil }
        return (code, message)
    }
}
