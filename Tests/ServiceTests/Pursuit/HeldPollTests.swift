import AsyncHTTPClient
import Foundation
import NIOHTTP1
import Postgres
import Testing

/// `Prefer: wait=N` and `text/event-stream`: changes arrive at once, and no resources remain.
@Suite struct HeldPollTests {
    private static let patient = ["RELAY_VALIDATION_TIMEOUT_SECONDS": "300"]

    @Test func aPollIsHeldUntilTheChangeOrItsTime() async throws {
        try await Setup.run(settings: Self.patient) { setup in
            let relay = setup.relay
            let begin = ContinuousClock.now
            let quick = try await relay.pursue("ana+after-1s@example.test")
            let answer = try await relay.poll(quick, wait: 60)
            #expect(answer.json["status"].string == "granted")
            #expect(answer.header("Preference-Applied") == "wait=60")
            #expect(answer.header("Retry-After") == nil)
            #expect(ContinuousClock.now - begin >= .milliseconds(800))
            // Without a change, the poll would have been held to its end.
            #expect(ContinuousClock.now - begin < .seconds(55))

            let slow = try await relay.pursue("bea+never@example.test")
            let heldAt = ContinuousClock.now
            let unchanged = try await relay.poll(slow, wait: 1)
            #expect(ContinuousClock.now - heldAt >= .milliseconds(990))
            #expect(ContinuousClock.now - heldAt < .seconds(55))
            #expect(unchanged.status == 200)
            #expect(unchanged.json["status"].string == "pending")
            #expect(unchanged.header("Preference-Applied") == "wait=1")
            #expect(unchanged.header("Retry-After") == "1")

            // With the tag of the known answer, only a change ends the wait, even for a final status.
            let tag = try #require(unchanged.header("ETag"))
            let notModified = try await relay.poll(slow, wait: 1, headers: ["If-None-Match": tag])
            #expect(notModified.status == 304)
            #expect(notModified.header("Preference-Applied") == "wait=1")

            let capped = try await relay.poll(quick, wait: 600)
            #expect(capped.json["status"].string == "granted")
            #expect(capped.header("Preference-Applied") == "wait=60")
            for prefer in ["wait=0", "wait=soon", "wait=-5", "respond-async", "wait"] {
                let sent = ContinuousClock.now
                let plain = try await relay.poll(slow, headers: ["Prefer": prefer])
                #expect(plain.status == 200, "\(prefer)")
                #expect(plain.header("Preference-Applied") == nil, "\(prefer)")
                #expect(ContinuousClock.now - sent < .seconds(55), "\(prefer)")
            }
            let among = try await relay.poll(quick, headers: ["Prefer": "respond-async, Wait=\"7\"; x=1"])
            #expect(among.header("Preference-Applied") == "wait=7")
        }
    }

    @Test func aHeldPollOfAGrantedPurchaseGetsItsTransfer() async throws {
        try await Setup.run(settings: Self.patient) { setup in
            let original = TestPurchase.newTransactionID()
            let relay = setup.relay
            let first = try await relay.pursue("ana@example.test", original: original)
            _ = try await relay.becomes("granted", first)
            let tag = try #require(try await relay.poll(first).header("ETag"))
            async let heard = relay.poll(first, wait: 60, headers: ["If-None-Match": tag])
            try await Awaiting.fact("the poll is held", of: { try await relay.metric("http_server_held_polls") }) {
                $0 == 1
            }
            _ = try await relay.pursue("bea@example.test", original: original)
            #expect(try await heard.json["status"].string == "transferred")
        }
    }

    /// Guards against an answer to a client whose key was revoked while its poll was held.
    @Test func aRevokedKeysPollAndStreamEnd() async throws {
        try await Setup.run(settings: Self.patient) { setup in
            let relay = setup.relay
            try await SimulatorControl(setup.simulator).behave("ana@example.test", "never")
            let id = try await relay.pursue("ana@example.test")
            async let poll = relay.poll(id, wait: 60)
            async let stream = EventStreamReader.read(relay, id)
            try await Awaiting.fact("both are held", of: { try await relay.metric("http_server_held_polls") }) {
                $0 == 2
            }
            let began = ContinuousClock.now
            _ = try await setup.database.query("UPDATE api_keys SET revoked_at = now()")
            #expect(try await poll.status == 401)
            #expect(try await stream.events.map { $0.json["status"].string } == ["pending"])
            // The poll would have gone on for a minute, the stream for two.
            #expect(ContinuousClock.now - began < .seconds(55))
            #expect(try await relay.metric("http_server_held_polls") == 0)
        }
    }

    @Test func aStreamSendsEachChangeAndEndsWithTheLast() async throws {
        try await Setup.run(settings: Self.patient) { setup in
            let relay = setup.relay
            let control = SimulatorControl(setup.simulator)
            for (name, behaviour) in [("ana", "never"), ("bea", "flaky"), ("cia", "never")] {
                try await control.behave("\(name)@example.test", behaviour)
            }
            let granted = try await relay.pursue("ana@example.test")
            let rejected = try await relay.pursue("bea@example.test")
            let timedOut = try await relay.pursue("cia@example.test")
            // Events are streamed and not sent together at the end: a purchase ends only after its stream has reported
            // `pending`.
            let (pending, teller) = AsyncStream.makeStream(of: Void.self)
            func read(_ id: String) async throws -> EventStreamReader {
                try await EventStreamReader.read(relay, id) {
                    if $0.json["status"].string == "pending" { teller.yield() }
                }
            }
            async let first = read(granted)
            async let second = read(rejected)
            async let third = read(timedOut)
            var told = 0
            for await _ in pending {
                told += 1
                if told == 3 { break }
            }
            try await control.entitle("ana@example.test", to: "S123456789_US", status: "active")
            try await control.behave("bea@example.test", "reject")
            for id in [granted, rejected] {
                _ = try await Awaiting.fact("it has ended") {
                    try await relay.poll(id).json
                } holds: {
                    $0["status"].string != "pending"
                }
            }
            try await setup.database.letDeadlinesCome()
            for (reader, last) in try await [(first, "granted"), (second, "rejected"), (third, "timed_out")] {
                #expect(reader.contentType?.hasPrefix("text/event-stream") == true)
                #expect(reader.events.map { $0.json["status"].string } == ["pending", last])
                #expect(reader.events.allSatisfy { $0.name == "status" })
            }
            #expect(try await first.events.last?.json == relay.poll(granted).json)
            // The stream of a final status has one event.
            let again = try await EventStreamReader.read(relay, granted)
            #expect(again.events.map { $0.json["status"].string } == ["granted"])
            #expect(try await relay.metric("http_server_held_polls") == 0)
        }
    }

    @Test func aClosedPollReleasesItsResources() async throws {
        try await Setup.run(settings: Self.patient) { setup in
            let relay = setup.relay
            let control = SimulatorControl(setup.simulator)
            try await control.behave("ana@example.test", "never")
            let id = try await relay.pursue("ana@example.test")
            let key = ["Authorization": "Bearer \(relay.keys.app)"]
            func held(_ count: Double) async throws {
                try await Awaiting.fact("\(count) polls are held", is: count) {
                    try await relay.metric("http_server_held_polls")
                }
            }
            var leaving: [PlainConnection] = []
            for accept in ["application/json", "text/event-stream"] {
                for _ in 0..<10 {
                    let connection = try PlainConnection(to: relay.url)
                    try await connection.send(
                        "/entitlements/\(id)", headers: key.merging(["Prefer": "wait=60", "Accept": accept]) { $1 })
                    leaving.append(connection)
                }
            }
            let staying = try PlainConnection(to: relay.url)
            #expect(try await staying.get("/entitlements/\(id)", headers: key).status == 200)
            try await staying.send("/entitlements/\(id)", headers: key.merging(["Prefer": "wait=60"]) { $1 })
            try await held(21)
            for (index, connection) in leaving.enumerated() { connection.leave(abruptly: index.isMultiple(of: 2)) }
            try await held(1)
            try await control.entitle("ana@example.test", to: "S123456789_US", status: "active")

            // The remaining client is answered, and its connection stays usable.
            let answer = try await staying.answer()
            #expect(answer.json["status"].string == "granted")
            #expect(!answer.head.lowercased().contains("connection: close"))
            #expect(try await staying.get("/entitlements/\(id)", headers: key).json["status"].string == "granted")
            let unknown = try await staying.get("/entitlements/0", headers: key)
            #expect(unknown.status == 404)
            #expect(try await staying.get("/entitlements/\(id)", headers: key).status == 200)
            try await held(0)
        }
    }

    @Test func sigtermWakesEveryHeldPollAndEndsTheProcess() async throws {
        try await Setup.run(settings: Self.patient) { setup in
            let relay = setup.relay
            let key = ["Authorization": "Bearer \(relay.keys.app)"]
            var ids: [String] = []
            for name in ["ana", "bea", "cia"] { ids.append(try await relay.pursue("\(name)+never@example.test")) }
            var held: [PlainConnection] = []
            for index in 0..<30 {
                let connection = try PlainConnection(to: relay.url)
                try await connection.send(
                    "/entitlements/\(ids[index % 3])", headers: key.merging(["Prefer": "wait=60"]) { $1 })
                held.append(connection)
            }
            let idle = try PlainConnection(to: relay.url)
            #expect(try await idle.get("/entitlements/\(ids[0])", headers: key).status == 200)
            async let stream = EventStreamReader.read(relay, ids[0])
            try await Awaiting.fact("all are held", is: 31) { try await relay.metric("http_server_held_polls") }
            relay.process.signal(SIGTERM)
            for connection in held {
                let answer = try await connection.answer()
                #expect(answer.status == 200)
                #expect(answer.json["status"].string == "pending")
            }
            #expect(try await stream.events.map { $0.json["status"].string } == ["pending"])
            // Ten seconds are the process's own limit; past it, the exit code would be 1.
            #expect(await relay.process.exitCode() == 0)
            withExtendedLifetime(idle) {}
        }
    }
}
