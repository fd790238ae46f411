import Foundation
import Postgres
import TestRun
import Testing

/// Connections of real clients: pipelined, half closed, slow, and closed by a stopping process.
@Suite struct IntakeConnectionTests {
    private static func post(
        _ connection: PlainConnection, _ purchase: TestPurchase, _ relay: Relay, _ headers: [String: String] = [:]
    ) async throws {
        try await connection.send(
            "/apple/payment", method: "POST", headers: Self.headers(relay, purchase.body.count, headers),
            body: purchase.body)
    }

    private static func headers(_ relay: Relay, _ length: Int, _ more: [String: String] = [:]) -> [String: String] {
        [
            "Authorization": "Bearer \(relay.keys.app)", "Content-Type": "application/json",
            "Content-Length": "\(length)",
        ].merging(more) { $1 }
    }

    @Test func pipelinedRequestsAreAnsweredInTheirOrder() async throws {
        try await Setup.run { setup in
            let relay = setup.relay
            let key = ["Authorization": "Bearer \(relay.keys.app)"]
            let settled = try await relay.pursue("ana@example.test")
            _ = try await relay.becomes("granted", settled)
            let connection = try PlainConnection(to: relay.url)
            for _ in 0..<3 { _ = try await connection.get("/entitlements/\(settled)", headers: key) }
            // Far more requests than one read covers.
            for round in 0..<20 {
                try await Self.post(connection, TestPurchase(email: "a\(round)@example.test"), relay)
                try await connection.send("/entitlements/\(settled)", headers: key)
                try await Self.post(connection, TestPurchase(email: "b\(round)@example.test"), relay)
                try await connection.send("/entitlements/0", headers: key)
            }
            for round in 0..<20 {
                for (status, email) in [
                    (202, "a\(round)@example.test"), (200, "ana@example.test"), (202, "b\(round)@example.test"),
                    (404, nil),
                ] {
                    let answer = try await connection.answer()
                    #expect(answer.status == status)
                    #expect(
                        answer.json["customerEmail"].string == email || answer.json["validationId"].string == settled)
                }
            }
        }
    }

    @Test func aHalfClosedConnectionIsStillAnswered() async throws {
        try await Setup.run { setup in
            let connection = try PlainConnection(to: setup.relay.url)
            for name in ["ana", "ben"] {
                try await Self.post(connection, TestPurchase(email: "\(name)@example.test"), setup.relay)
            }
            connection.endOutput()
            for name in ["ana", "ben"] {
                let answer = try await connection.answer()
                #expect(answer.status == 202 && answer.json["customerEmail"].string == "\(name)@example.test")
            }
            #expect(try await connection.isEnded())

            // Also answers from the cache.
            let id = try await setup.relay.pursue("cia@example.test")
            _ = try await setup.relay.becomes("granted", id)
            for _ in 0..<4 {
                let polling = try PlainConnection(to: setup.relay.url)
                try await polling.send(
                    "/entitlements/\(id)", headers: ["Authorization": "Bearer \(setup.relay.keys.app)"])
                polling.endOutput()
                #expect(try await polling.answer().json["status"].string == "granted")
                #expect(try await polling.isEnded())
            }
        }
    }

    @Test func nothingIsTakenBehindAConnectionThatTheClientCloses() async throws {
        try await Setup.run { setup in
            let connection = try PlainConnection(to: setup.relay.url)
            try await Self.post(
                connection, TestPurchase(email: "ana@example.test"), setup.relay, ["Connection": "close"])
            try await Self.post(connection, TestPurchase(email: "ben@example.test"), setup.relay)
            let answer = try await connection.answer()
            #expect(answer.status == 202 && answer.head.lowercased().contains("connection: close"))
            #expect(try await connection.isEnded())
            #expect(try await setup.count("validations") == 1)
        }
    }

    @Test func anInvalidRequestIsRefusedAfterTheEarlierAnswers() async throws {
        try await Setup.run { setup in
            let connection = try PlainConnection(to: setup.relay.url)
            try await Self.post(connection, TestPurchase(email: "ana@example.test"), setup.relay)
            try await connection.send(bytes: Array("NO REQUEST AT ALL\r\n\r\n".utf8))
            #expect(try await connection.answer().status == 202)
            let refusal = try await connection.answer()
            #expect(refusal.status == 400 && refusal.json["code"].string == "bad_request")
            #expect(try await connection.isEnded())
        }
    }

    /// The client waits for permission to send its body, which is refused or arrives in parts.
    @Test func aBodyThatComesLaterIsReadOrRefused() async throws {
        try await Setup.run { setup in
            let relay = setup.relay
            let connection = try PlainConnection(to: relay.url)
            let body = TestPurchase(email: "ana@example.test").body
            let headers = Self.headers(relay, body.count, ["Expect": "100-continue"])
            try await connection.send("/apple/payment", method: "POST", headers: headers)
            #expect(try await connection.answer().status == 100)
            try await connection.send(bytes: Array(body.prefix(100)))
            // Once the relay has answered another connection, it has also read this part.
            #expect(try await relay.poll("0").status == 404)
            try await connection.send(bytes: Array(body.dropFirst(100)))
            #expect(try await connection.answer().status == 202)

            // The answer does not wait for the body, and the connection stays usable.
            let wrong = headers.merging(["Authorization": "Bearer nobody"]) { $1 }
            try await connection.send("/apple/payment", method: "POST", headers: wrong)
            #expect(try await connection.answer().status == 100)
            #expect(try await connection.answer().status == 401)
            try await connection.send(bytes: Array(body))
            try await Self.post(connection, TestPurchase(email: "ben@example.test"), relay)
            #expect(try await connection.answer().status == 202)
            #expect(try await setup.count("validations") == 2)
        }
    }

    @Test(.timeLimit(.paced(minutes: 2)))
    func aStoppingProcessAnswersTheRequestsThatItHasRead() async throws {
        try await Setup.run { setup in
            let relay = setup.relay
            let (staying, gone) = (try PlainConnection(to: relay.url), try PlainConnection(to: relay.url))
            try await TestDatabase.withPool(setup.database.url) { pool in
                try await pool.withTransaction(timeout: Awaiting.patience) { transaction in
                    _ = try await transaction.query(SQL("LOCK TABLE receipts IN ACCESS EXCLUSIVE MODE"))
                    for (connection, name) in [(staying, "ana"), (gone, "ben")] {
                        try await Self.post(connection, TestPurchase(email: "\(name)@example.test"), relay)
                        try await Awaiting.fact("it waits for the lock") {
                            try await setup.waitingForLocks()
                        } holds: {
                            $0 >= 1
                        }
                    }
                    gone.leave(abruptly: true)
                    relay.process.signal(SIGTERM)
                    _ = await relay.process.line { $0.contains("ending cleanly") }
                }
            }
            #expect(try await staying.answer().status == 202)
            // A connection that was answered before the shutdown reached it is closed like the others.
            #expect(try await staying.isEnded())
            #expect(await relay.process.exitCode() == 0)
            // The request of a departed client is completed too: the process ends after its commit.
            #expect(try await setup.count("validations") == 2)
        }
    }
}

extension Setup {
    fileprivate func waitingForLocks() async throws -> Int {
        let rows = try await database.query(
            SQL(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'")
        )
        return Int(try rows.first?.get(0, as: Int64.self) ?? 0)
    }
}
