import Foundation
import Testing

/// Polls of what is settled are answered from memory, and nobody can tell but by the clock.
@Suite struct SettledPollTests {
    /// Asks until the answer has come from memory: the first ones fill it.
    private func warm(_ connection: PlainConnection, _ path: String, _ headers: [String: String]) async throws {
        for _ in 0..<3 { _ = try await connection.get(path, headers: headers) }
    }

    @Test func theAnswerFromMemoryIsTheOneFromTheDatabase() async throws {
        try await Setup.run { setup in
            let relay = setup.relay
            let id = try await relay.pursue("ana@example.test")
            _ = try await relay.becomes("granted", id)
            let connection = try PlainConnection(to: relay.url)
            let headers = ["Authorization": "Bearer \(relay.keys.app)"]
            try await warm(connection, "/entitlements/\(id)", headers)
            let quick = try await connection.get("/entitlements/\(id)", headers: headers)
            // A query that means nothing takes the long way.
            let long = try await connection.get("/entitlements/\(id)?x=1", headers: headers)
            #expect(quick.status == 200)
            #expect(quick.body == long.body)
            func fields(_ answer: PlainConnection.Answer) -> [String] {
                answer.head.split(separator: "\r\n").map(String.init)
                    .filter { !$0.hasPrefix("X-Request-Id:") && !$0.hasPrefix("Date:") }.sorted()
            }
            #expect(fields(quick) == fields(long))
            #expect(quick.head.contains("X-Request-Id: ") && quick.head.contains("Date: "))
            let tag = try #require(
                quick.head.split(separator: "\r\n").first { $0.hasPrefix("ETag: ") }?.dropFirst(6))
            let unchanged = try await connection.get(
                "/entitlements/\(id)", headers: headers.merging(["If-None-Match": String(tag)]) { $1 })
            #expect(unchanged.status == 304)
            #expect(unchanged.body.isEmpty)
            let named = try await connection.get(
                "/entitlements/\(id)", headers: headers.merging(["X-Request-Id": "mine-1"]) { $1 })
            #expect(named.head.contains("X-Request-Id: mine-1"))
        }
    }

    @Test func answersGoOutInTheOrderOfTheirRequests() async throws {
        try await Setup.run { setup in
            let relay = setup.relay
            let settled = try await relay.pursue("ana@example.test")
            _ = try await relay.becomes("granted", settled)
            let pending = try await relay.pursue("ben+never@example.test")
            let connection = try PlainConnection(to: relay.url)
            let headers = ["Authorization": "Bearer \(relay.keys.app)"]
            try await warm(connection, "/entitlements/\(settled)", headers)
            // The held one keeps back the one that could be answered at once.
            try await connection.send(
                "/entitlements/\(pending)", headers: headers.merging(["Prefer": "wait=1"]) { $1 })
            try await connection.send("/entitlements/\(settled)", headers: headers)
            let first = try await connection.answer()
            #expect(first.json["validationId"].string == pending)
            let second = try await connection.answer()
            #expect(second.json["validationId"].string == settled)
        }
    }

    @Test func itOpensNothingToOthers() async throws {
        try await Setup.run { setup in
            let relay = setup.relay
            let id = try await relay.pursue("ana@example.test")
            _ = try await relay.becomes("granted", id)
            let other = try await Relay.makeKey("app", setup.database, app: "com.example.other")
            let connection = try PlainConnection(to: relay.url)
            try await warm(connection, "/entitlements/\(id)", ["Authorization": "Bearer \(relay.keys.app)"])
            for (key, status) in [(other, 404), (relay.keys.viewer, 403), ("rr_nobody", 401), (relay.keys.app, 200)] {
                let answer = try await connection.get(
                    "/entitlements/\(id)", headers: ["Authorization": "Bearer \(key)"])
                #expect(answer.status == status)
            }
            #expect(try await connection.get("/entitlements/\(id)").status == 401)
        }
    }

    @Test func aTransferIsToldByBothCopiesAndNeverTakenBack() async throws {
        try await Setup.run { setup in
            let here = setup.relay
            let there = try await Relay.start(
                database: setup.database, simulator: setup.simulator, role: "front", keys: here.keys)
            let original = TestPurchase.newTransactionID()
            let id = try await here.pursue("ana@example.test", original: original)
            _ = try await here.becomes("granted", id)
            for relay in [here, there] { for _ in 0..<3 { _ = try await relay.poll(id) } }
            _ = try await here.becomes("granted", try await here.pursue("ben@example.test", original: original))
            // The copy whose worker did it knows at once.
            #expect(try await here.poll(id).json["status"].string == "transferred")
            _ = try await Awaiting.fact("the other copy tells it too") {
                try await there.poll(id).json["status"].string
            } holds: {
                $0 == "transferred"
            }
            for relay in [here, there] {
                for _ in 0..<20 { #expect(try await relay.poll(id).json["status"].string == "transferred") }
            }
            await there.end()
        }
    }
}
