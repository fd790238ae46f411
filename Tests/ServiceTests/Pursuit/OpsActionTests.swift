import Foundation
import Testing

/// The acts of an operator, and the records of them.
@Suite struct OpsActionTests {
    @Test func aRetriedRejectionIsGrantedLate() async throws {
        try await Setup.run(settings: ["RELAY_VALIDATION_TIMEOUT_SECONDS": "300"]) { setup in
            let relay = setup.relay
            let id = try await relay.pursue("rea+reject-1@example.test")
            let rejected = try await relay.becomes("rejected", id)
            try await setup.database.letDeadlinesCome()
            for key in [relay.keys.viewer, relay.keys.app] {
                #expect(try await relay.opsPost("/ops/validations/\(id)/retry", key: key).status == 403)
                #expect(try await relay.opsPost("/ops/validations/\(id)/abandon", key: key).status == 403)
            }
            let answer = try await relay.opsPost("/ops/validations/\(id)/retry", reason: "Cleeng said sorry")
            #expect(answer.status == 202)
            #expect(answer.json["validationId"].string == id)

            let granted = try await relay.becomes("granted", id)
            #expect(granted["late"].bool == true)
            #expect(granted["accessGranted"].bool == true)
            #expect(granted["reason"].isNull)
            #expect(granted["receivedAt"] == rejected["receivedAt"])
            let retried = try #require(try await relay.timeline(id, "retried").first)
            let detail = try #require(retried["detail"].string)
            #expect(detail.contains("Cleeng said sorry"))
            #expect(detail.contains("test ops-operator"))
            let events = try await relay.events(id)
            #expect(try #require(events.firstIndex(of: "rejected")) < #require(events.firstIndex(of: "retried")))
            #expect(events.last == "granted")

            // There is nothing to retry or to abandon.
            for action in ["retry", "abandon"] {
                let refused = try await relay.opsPost("/ops/validations/\(id)/\(action)")
                #expect(refused.status == 409, "\(action)")
                #expect(refused.header("Content-Type") == "application/problem+json")
                #expect(refused.json["code"].string == "state_not_allowed")
            }

            // A timed-out purchase, with or without its watch, is sent again and granted.
            let control = SimulatorControl(setup.simulator)
            try await control.behave("tia@example.test", "never")
            let slow = try await relay.pursue("tia@example.test")
            try await Awaiting.fact("Cleeng has taken it", of: { try await relay.events(slow) }) {
                $0.contains("entitlement_read")
            }
            try await setup.database.letDeadlinesCome()
            _ = try await relay.becomes("timed_out", slow)
            try await control.behave("tia@example.test")
            #expect(try await relay.opsPost("/ops/validations/\(slow)/retry").status == 202)
            #expect(try await relay.becomes("granted", slow)["late"].bool == true)
            #expect(try await control.payments(of: "tia@example.test").count == 2)
        }
    }

    @Test func anAbandonedOneIsRejectedAndStaysSo() async throws {
        try await Setup.run(settings: ["RELAY_VALIDATION_TIMEOUT_SECONDS": "300"]) { setup in
            let relay = setup.relay
            let control = SimulatorControl(setup.simulator)
            let id = try await relay.pursue("nea+never@example.test")
            try await Awaiting.fact("Cleeng has taken it", of: { try await relay.events(id) }) {
                $0.contains("entitlement_read")
            }
            let unsent = try await relay.pursue("dia+down@example.test")
            async let heard = relay.poll(id, wait: 60)
            try await Awaiting.fact("the poll is held", of: { try await relay.metric("http_server_held_polls") }) {
                $0 == 1
            }
            // A worker may be processing it at this moment. The answer then asks for a repeat.
            for id in [id, unsent] {
                let answer = try await Awaiting.fact("it can be abandoned") {
                    try await relay.opsPost("/ops/validations/\(id)/abandon", reason: "the customer gave up")
                } holds: {
                    $0.json["code"].string != "busy"
                }
                #expect(answer.status == 202)
                #expect(answer.json["status"].string == "rejected")
            }
            let told = try await heard.json
            #expect(told["status"].string == "rejected")
            #expect(told["reason"].string == "abandoned")
            #expect(told["accessGranted"].bool == false)
            let abandoned = try #require(try await relay.timeline(id, "abandoned").first?["detail"].string)
            #expect(abandoned.contains("the customer gave up"))
            #expect(abandoned.contains("test ops-operator"))
            for id in [id, unsent] {
                let detail = try await relay.detail(id)
                #expect(detail["nextStepAt"].isNull && detail["leaseOwner"].isNull)
                #expect(try await relay.opsPost("/ops/validations/\(id)/abandon").status == 409)
            }
            let summary = try await relay.ops("/ops/summary").json
            #expect(summary["backlog"]["watching"].int == 0 && summary["backlog"]["forwarding"].int == 0)

            // A purchase that was abandoned by mistake can be retried.
            try await control.behave("dia+down@example.test")
            #expect(try await relay.opsPost("/ops/validations/\(unsent)/retry").status == 202)
            #expect(try await relay.becomes("granted", unsent)["late"].bool == false)
        }
    }

    @Test func anActionNeedsAReasonAKnownIdAndAState() async throws {
        try await Setup.run(settings: ["RELAY_VALIDATION_TIMEOUT_SECONDS": "300"]) { setup in
            let relay = setup.relay
            let original = TestPurchase.newTransactionID()
            // Cleeng accepts Ana's and never grants it. Bea's subscription must not move back.
            let ana = try await relay.pursue("ana+never@example.test", original: original)
            try await Awaiting.fact("Cleeng has taken it", of: { try await relay.events(ana) }) {
                $0.contains("entitlement_read")
            }
            try await setup.database.letDeadlinesCome()
            _ = try await relay.becomes("timed_out", ana)
            let bea = try await relay.pursue("bea@example.test", original: original)
            _ = try await relay.becomes("granted", bea)
            let superseded = try await relay.opsPost("/ops/validations/\(ana)/retry")
            #expect(superseded.status == 409)
            #expect(superseded.json["code"].string == "superseded")
            #expect(try await relay.poll(bea).json["status"].string == "granted")
            #expect(try await SimulatorControl(setup.simulator).payments(of: "ana+never@example.test").count == 1)

            let cia = try await relay.pursue("cia@example.test", original: original)
            _ = try await relay.becomes("granted", cia)
            for action in ["retry", "abandon"] {
                #expect(try await relay.opsPost("/ops/validations/\(bea)/\(action)").status == 409)
                for unknown in ["nothing", String(repeating: "0", count: 38)] {
                    #expect(try await relay.opsPost("/ops/validations/\(unknown)/\(action)").status == 404)
                }
                let path = "/ops/validations/\(ana)/\(action)"
                for (body, status) in [
                    ("{}", 422), (#"{"reason":""}"#, 422), (#"{"reason":"  "}"#, 422), (#"{"reason":7}"#, 422),
                    ("", 400), ("reason", 400), ("[]", 422),
                ] {
                    let answer = try await HTTP.post(
                        relay.opsURL + path,
                        headers: [
                            "Authorization": "Bearer \(relay.keys.operator)", "Content-Type": "application/json",
                        ], body: Data(body.utf8))
                    #expect(answer.status == status, "\(action) \(body)")
                }
                #expect(try await HTTP.get(relay.opsURL + path).status == 405)
            }
            // The refused acts left no entry in the timeline.
            #expect(try await relay.timeline(ana, "retried").isEmpty)
            #expect(try await relay.timeline(ana, "abandoned").isEmpty)
            #expect(try await relay.opsPost("/ops/validations/\(ana)/abandon").status == 202)
            #expect(try await relay.poll(ana).json["reason"].string == "abandoned")
        }
    }
}
