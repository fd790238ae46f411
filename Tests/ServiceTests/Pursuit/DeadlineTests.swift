import Foundation
import Testing

/// The deadline is applied by every read, and a later outcome still arrives.
@Suite struct DeadlineTests {
    @Test func nothingIsPendingAtTheDeadlineWithNoWorkerAtAll() async throws {
        try await Setup.run(settings: ["RELAY_VALIDATION_TIMEOUT_SECONDS": "8"], role: "front") { setup in
            let relay = setup.relay
            let purchase = TestPurchase(email: "ana@example.test")
            let id = try await relay.pursue(purchase)
            async let held = relay.poll(id, wait: 20)
            async let stream = EventStreamReader.read(relay, id)
            let first = try await relay.poll(id)
            #expect(first.json["status"].string == "pending")
            let deadline = try #require(first.json["deadline"].string.flatMap(Date.init(milliseconds:)))

            // The relay, the database and this test share one clock, which answers show in milliseconds.
            var answers = 0
            while true {
                let sentAt = Date.now
                let answer = try await relay.poll(id)
                let newest = try await HTTP.get(
                    relay.url + "/entitlements?customerEmail=ana@example.test&offerId=S123456789_US",
                    headers: ["Authorization": "Bearer \(relay.keys.app)"])
                let isOver = sentAt >= deadline.addingTimeInterval(0.001)
                answers += 1
                if isOver {
                    #expect(answer.json["status"].string == "timed_out")
                    #expect(answer.json["settledAt"] == answer.json["deadline"])
                    #expect(answer.header("Retry-After") == nil)
                    #expect(newest.json["status"].string == "timed_out")
                    break
                }
                // The timeout is not reported before the deadline either.
                if answer.json["status"].string == "timed_out" { #expect(Date.now >= deadline) }
            }
            #expect(answers > 1)
            #expect(try await held.json["status"].string == "timed_out")
            #expect(try await stream.events.map { $0.json["status"].string } == ["pending", "timed_out"])

            // The ops API returns the same status.
            let list = try await relay.ops("/ops/validations?status=timed_out").json
            #expect(list["items"][0]["validationId"].string == id)
            #expect(try await relay.ops("/ops/validations?status=pending").json["items"].array?.isEmpty == true)
            let summary = try await relay.ops("/ops/summary").json
            #expect(summary["countsByStatus"]["timed_out"].int == 1)
            #expect(summary["countsByStatus"]["pending"].int == 0)
            #expect(try await relay.events(id) == ["accepted", "timed_out"])

            // A new try of the same purchase is its own validation, and the old one remains.
            let fresh = try await relay.pursue(purchase)
            #expect(fresh != id)
        }
    }

    @Test func aGrantThatComesLaterTurnsTimedOutIntoGranted() async throws {
        try await Setup.run(role: "front") { setup in
            let relay = setup.relay
            let unsent = try await relay.pursue("ana@example.test")
            try await setup.database.letDeadlinesCome()
            let timedOut = try await relay.poll(unsent, wait: 20)
            #expect(timedOut.json["status"].string == "timed_out")
            let tag = try #require(timedOut.header("ETag"))
            let heard = Task { try await relay.poll(unsent, wait: 60, headers: ["If-None-Match": tag]) }

            // The purchase's worker did not run until now.
            let worker = try await Relay.start(
                database: setup.database, simulator: setup.simulator, role: "worker", keys: relay.keys)
            try await worker.during {
                let granted = try await heard.value.json
                #expect(granted["status"].string == "granted")
                #expect(granted["accessGranted"].bool == true)
                #expect(granted["late"].bool == true)
                #expect(granted["deadline"] == timedOut.json["deadline"])
                let events = Set(try await relay.events(unsent))
                #expect(events.isSuperset(of: ["accepted", "timed_out", "forwarded", "granted"]))

                // Now Cleeng itself is slow.
                let control = SimulatorControl(setup.simulator)
                try await control.behave("bea@example.test", "never")
                let slow = try await relay.pursue("bea@example.test")
                try await setup.database.letDeadlinesCome()
                #expect(try await relay.becomes("timed_out", slow)["late"].bool == false)
                try await control.entitle("bea@example.test", to: "S123456789_US", status: "active")
                let late = try await relay.becomes("granted", slow)
                #expect(late["late"].bool == true)
            }
        }
    }
}
