import Foundation
import Postgres
import TestRun
import Testing

/// Old rows are dropped automatically, and references to dropped rows cause no errors.
@Suite struct RetentionTests {
    private static let tables = ["validations", "receipts", "timeline"]

    /// Changes a validation as if it had been accepted that many days ago, in the partitions of its week.
    ///
    /// - Returns: its new id.
    private static func age(_ id: String, days: Int, in database: TestDatabase) async throws -> String {
        func run(_ sql: String, _ parameters: [PostgresValue] = []) async throws {
            _ = try await database.query(SQL(sql, parameters))
        }
        // A running relay has the partitions of last week.
        for ago in [days, 7] {
            let rows = try await database.query(
                SQL(
                    unescaped:
                        "SELECT to_char(date_trunc('week', (now() AT TIME ZONE 'UTC')::date - \(ago)), 'YYYY-MM-DD')"))
            let monday = try #require(try rows.first?.get(0, as: String.self))
            for table in tables {
                try await run(
                    """
                    CREATE TABLE IF NOT EXISTS \(table)_\(monday.replacingOccurrences(of: "-", with: ""))
                    PARTITION OF \(table) FOR VALUES FROM ('\(monday)') TO (DATE '\(monday)' + 7)
                    """)
            }
        }
        let uuid = PostgresValue.text(String(id.dropFirst(6)))
        for table in tables + ["purchases", "subscriptions", "pursuits"] {
            try await run("UPDATE \(table) SET accepted_on = accepted_on - \(days) WHERE id = $1::text::uuid", [uuid])
        }
        try await run(
            """
            UPDATE validations SET accepted_at = accepted_at - interval '\(days) days',
                deadline = deadline - interval '\(days) days'
            WHERE id = $1::text::uuid
            """, [uuid])
        let day = try #require(Int(id.dropFirst(2).prefix(4), radix: 16)) - days
        return id.prefix(2) + String(format: "%04x", day) + id.dropFirst(6)
    }

    private static func count(_ table: String, in database: TestDatabase) async throws -> Int {
        try await database.query(SQL(unescaped: "SELECT count(*) FROM \(table)")).first?.get(0, as: Int.self) ?? 0
    }

    @Test(.timeLimit(.paced(minutes: 4)))
    func aCopyDropsOldRowsAndThePurchaseCanBePostedAgain() async throws {
        let database = try await TestDatabase.make()
        let simulator = try await Simulator.start()
        let first = try await Relay.start(database: database, simulator: simulator)
        let purchase = TestPurchase(email: "ana@example.test")
        let old = try await first.pursue(purchase)
        _ = try await first.becomes("granted", old)
        let kept = try await first.pursue("ben@example.test")
        _ = try await first.becomes("granted", kept)
        let parked = try await first.pursue("cid+never@example.test")
        try await Awaiting.fact("Cleeng has taken it") {
            try await first.events(parked)
        } holds: {
            $0.contains("entitlement_read")
        }
        try await database.letDeadlinesCome()
        _ = try await first.becomes("timed_out", parked)
        await first.end()
        let gone = try await Self.age(old, days: 500, in: database)
        _ = try await database.query(
            SQL("UPDATE pursuits SET phase = 2, parked_at = now(), trouble = 'a test'"))
        let heldBack = try await Self.age(parked, days: 600, in: database)

        let relay = try await Relay.start(database: database, simulator: simulator, keys: first.keys)
        #expect(
            await relay.process.line { $0.contains("dropped") && $0.contains("validations_") } != nil)
        let answer = try await relay.poll(gone)
        #expect(answer.status == 404 && answer.json["code"].string == "unknown_validation")
        #expect(try await relay.ops("/ops/validations/\(gone)").status == 404)
        #expect(try await relay.poll(kept).json["status"].string == "granted")
        // This one is not settled yet: it remains with its receipt, and its week is reported as held back.
        #expect(try await relay.poll(heldBack).json["status"].string == "timed_out")
        #expect(try await Self.count("receipts", in: database) == 2)
        #expect(await relay.process.line { $0.contains("kept: purchases in it are still pursued") } != nil)
        let metrics = try await Awaiting.fact("the first look is over") {
            try await relay.metrics()
        } holds: {
            $0.contains("relay_retention_held_back{table=\"validations\"} 1")
        }
        for name in ["relay_partitions", "relay_partition_bytes", "relay_oldest_kept_timestamp_seconds"] {
            #expect(metrics.contains("\n\(name){table=\"validations\"} "), "\(name)")
        }
        #expect(metrics.contains("relay_default_partition_rows{table=\"timeline\"} 0"))
        #expect(metrics.contains("relay_retention_dropped_partitions_total{table=\"receipts\"} 1"))

        // The same purchase is a new validation, even if a row still refers to the old one.
        let again = try await relay.pursue(purchase)
        #expect(again != old && again != gone)
        _ = try await relay.becomes("granted", again)
        _ = try await database.query(
            SQL("DELETE FROM validations WHERE id = $1::text::uuid", [.text(String(again.dropFirst(6)))]))
        try await Self.isForgotten(again, by: relay)
        let fresh = try await relay.pursue(purchase)
        #expect(fresh != again)
        #expect(try await relay.becomes("granted", fresh)["accessGranted"].bool == true)
        await relay.end()
        await simulator.end()
        try await database.drop()
    }

    /// Waits for 404: a row that another process dropped may be served from the cache for fifteen seconds.
    private static func isForgotten(_ id: String, by relay: Relay) async throws {
        _ = try await Awaiting.fact("it is forgotten", of: { try await relay.poll(id) }, holds: { $0.status == 404 })
    }

    @Test func theCommandListsOldRowsAndDropsThem() async throws {
        let database = try await TestDatabase.make()
        let simulator = try await Simulator.start()
        let relay = try await Relay.start(
            database: database, simulator: simulator,
            settings: ["RELAY_RETENTION_DAYS": "0", "RELAY_RECEIPT_RETENTION_DAYS": "0"])
        let id = try await relay.pursue("ana@example.test")
        _ = try await relay.becomes("granted", id)
        let old = try await Self.age(id, days: 50, in: database)
        func run(_ days: Int, _ arguments: String...) async throws -> CommandRun {
            try await CommandRun.relay(
                ["retention", "run"] + arguments,
                environment: ["RELAY_DATABASE_URL": database.url, "RELAY_RETENTION_DAYS": "\(days)"])
        }
        let nothing = try await run(400)
        #expect(nothing.code == 0 && nothing.out == ["nothing is older than it is kept"], "\(nothing)")
        let dry = try await run(30, "--dry-run")
        #expect(dry.code == 0 && dry.out.count == 3, "\(dry)")
        #expect(dry.out.allSatisfy { $0.contains("would be dropped") })
        #expect(try await relay.poll(old).json["status"].string == "granted")
        let done = try await run(30)
        #expect(done.code == 0 && done.out.count == 4, "\(done)")
        #expect(done.out.filter { $0.contains("  dropped: ") }.count == 3)
        try await Self.isForgotten(old, by: relay)
        #expect(try await run(30).out == ["nothing is older than it is kept"])
        let wrong = try await run(-1)
        #expect(wrong.code == 78 && wrong.err.first?.contains("RELAY_RETENTION_DAYS") == true, "\(wrong)")
        // Another copy holds the duty, so nothing is done twice.
        _ = try await database.query(
            SQL("UPDATE duties SET holder = 'another', expires_at = now() + interval '1 minute'"))
        let second = try await relay.pursue("ben@example.test")
        _ = try await relay.becomes("granted", second)
        _ = try await Self.age(second, days: 50, in: database)
        let refused = try await run(30)
        #expect(refused.code == 1 && refused.out == ["another copy is removing at this moment"], "\(refused)")
        await relay.end()
        await simulator.end()
        try await database.drop()
    }
}
