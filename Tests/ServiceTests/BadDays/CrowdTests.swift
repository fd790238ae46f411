import Foundation
import TestRun
import Testing

/// Tests with thousands of clients, and with clients that never finish a request.
@Suite(.serialized) struct CrowdTests {
    /// Number of slow clients that the limits of open descriptors allow, here and in the relay.
    private static let slow = min(4_000, ProcessFacts.raisedOpenFileLimit() * 3 / 5)

    @Test(.whole, .timeLimit(.paced(minutes: 4)))
    func thousandsOfSlowClientsAreCutWhileOthersAreServed() async throws {
        try await Self.run { day in
            let relay = try await day.relay()
            let first = await AppClient.post(TestPurchase(email: "first@example.test"), to: relay)
            _ = try await AppClient.outcomes([#require(first.id)], of: relay)
            let memoryBefore = try ProcessFacts.residentMemory(of: relay.process)
            let socketsBefore = try ProcessFacts.openSockets(of: relay.process)

            let crowd = Crowd()
            let began = ContinuousClock.now
            let count = try await crowd.join(Self.slow, to: relay.url, within: Self.joining) { index in
                Array((index.isMultiple(of: 2) ? Self.halfHead : Self.halfBody(key: relay.keys.app)).utf8)
            }
            try await Self.isServed(crowd, count, relay, socketsBefore)
            let posted = await AppClient.post(AppClient.purchases(40, "normal"), to: relay)
            #expect(posted.accepted.count == 40)
            let outcomes = try await AppClient.outcomes(posted.ids, of: relay)
            #expect(outcomes == ["granted": 40])
            let memory = try ProcessFacts.residentMemory(of: relay.process)
            #expect(memory - memoryBefore < 400)
            Measured.note("resident MiB before and with \(count) slow clients", "\(memoryBefore), \(memory)")
            Measured.note("longest POST beside \(count) slow clients", posted.longest)

            try await crowd.watch(atMost: Awaiting.patience) { $0.allSatisfy { $0.closedAt != nil } }
            let members = crowd.members
            #expect(members.count { $0.closedAt == nil } == 0)
            let stays = members.compactMap(\.closedAt).map { $0 - began }
            #expect(try #require(stays.min()) > .seconds(20))
            Measured.note(
                "slow clients cut, first and last", "\(try #require(stays.min())), \(try #require(stays.max()))")
            // A client that stopped inside a head gets no answer, one that stopped inside a body gets 408. Among
            // thousands in the same second, some are cut before they receive it. So only the first twenty are checked.
            #expect(members.prefix(20).enumerated().count { $0.offset % 2 == 1 && $0.element.status == 408 } == 10)
            try await Self.nothingIsLeft(of: relay, before: socketsBefore)

            crowd.leave(0..<count)
            // The next clients use the same memory, and these leave by themselves.
            let next = Crowd()
            let nextCount = try await next.join(count, to: relay.url, within: Self.joining) { _ in
                Array(Self.halfHead.utf8)
            }
            try await Self.isServed(next, nextCount, relay, socketsBefore)
            let memoryAgain = try ProcessFacts.residentMemory(of: relay.process)
            #expect(memoryAgain - memoryBefore < (memory - memoryBefore) * 5 / 4 + 20)
            next.leave(0..<nextCount)
            try await Self.nothingIsLeft(of: relay, before: socketsBefore)
            Measured.note("resident MiB with the next \(nextCount)", "\(memoryAgain)")
        }
    }

    @Test(.whole, .timeLimit(.paced(minutes: 4)))
    func aThousandHeldPollsAreAnsweredAndClosedOnesAreReleased() async throws {
        try await Self.run { day in
            let relay = try await day.relay()
            try await day.control.behave("popular@example.test", "never")
            let id = try #require(await AppClient.post(TestPurchase(email: "popular@example.test"), to: relay).id)
            let crowd = Crowd()
            let request = """
                GET /entitlements/\(id) HTTP/1.1\r\nHost: relay\r\nAuthorization: Bearer \(relay.keys.app)\r\n\
                Prefer: wait=50\r\n\r\n
                """
            try await crowd.join(1_200, to: relay.url) { _ in Array(request.utf8) }
            try await Self.held(1_200, relay)
            crowd.leave(0..<200)
            let left = ContinuousClock.now
            try await Self.held(1_000, relay)
            Measured.note("200 departures noticed", ContinuousClock.now - left)

            let given = try await HTTP.post(
                day.simulator.url + "/_simulator/customers/popular@example.test/entitlements",
                body: Data("{\"offerId\":\"S123456789_US\"}".utf8))
            #expect(given.status == 200)
            try await crowd.watch(atMost: Awaiting.patience) { $0.dropFirst(200).allSatisfy { $0.answeredAt != nil } }
            let polls = crowd.members.dropFirst(200)
            #expect(polls.count { $0.status == 200 && $0.text.contains("\"status\":\"granted\"") } == 1_000)
            let answers = polls.compactMap(\.answeredAt)
            let spread = try #require(answers.max()) - #require(answers.min())
            Measured.note("1000 held polls, from the first answer to the last", spread)
            try await Self.held(0, relay)
        }
    }

    private static func run(_ body: (BadDay) async throws -> Void) async throws {
        try await BadDay.run(
            settings: ["RELAY_LOG_LEVEL": "info", "RELAY_VALIDATION_TIMEOUT_SECONDS": "300"], body)
    }

    /// A third of the time after which the relay cuts a slow client.
    private static let joining = Duration.seconds(7)

    /// Waits until the relay has accepted all of a crowd. Clients that it has cut by then count too, since a slow
    /// machine may take that long.
    private static func isServed(_ crowd: Crowd, _ count: Int, _ relay: Relay, _ before: Int) async throws {
        try await Awaiting.fact("all \(count) of them were let in") {
            try await ProcessFacts.openSockets(of: relay.process) + crowd.countClosed()
        } holds: {
            $0 >= before + count - 50
        }
    }

    private static func nothingIsLeft(of relay: Relay, before: Int) async throws {
        try await Awaiting.fact("nothing of them is left") {
            try ProcessFacts.openSockets(of: relay.process)
        } holds: {
            // The normal clients' connections may still be kept alive.
            $0 <= before + 60
        }
    }

    private static func held(_ count: Int, _ relay: Relay) async throws {
        try await Awaiting.fact("\(count) polls are held", is: Double(count)) {
            try await relay.metric("http_server_held_polls")
        }
    }

    private static let halfHead = "POST /apple/payment HTTP/1.1\r\nHost: relay\r\nContent-Ty"

    private static func halfBody(key: String) -> String {
        """
        POST /apple/payment HTTP/1.1\r\nHost: relay\r\nAuthorization: Bearer \(key)\r\n\
        Content-Type: application/json\r\nContent-Length: 4000\r\n\r\n{"customerEmail":"slow@example.test",
        """
    }
}
