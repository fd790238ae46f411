import Foundation
import Postgres
import TestRun
import Testing

extension BadDays {
    @Suite struct FrozenCopyTests {
        /// A copy reads the entitlements of twelve customers before it sends their purchases. A lock keeps it from
        /// reading the receipts, and then it is frozen until its leases have expired. Another copy sends the purchases,
        /// and a newer request for each of the subscriptions. The first copy then continues right before its own calls.
        @Test(.whole, .timeLimit(.paced(minutes: 4)))
        func aFrozenCopySendsNothingAfterItsLeasesExpired() async throws {
            try await BadDay.run { day in
                let front = try await day.relay(role: "front")
                let originals = (0..<12).map { _ in TestPurchase.newTransactionID() }
                let early = originals.enumerated().map {
                    TestPurchase(email: "early-\($0)@example.test", original: $1)
                }
                for purchase in early { try await day.control.behave(purchase.email, "after-0") }
                let posted = await AppClient.post(early, to: front)
                #expect(posted.accepted.count == 12)
                let frozen = try await TestDatabase.withPool(day.database.url) { pool in
                    try await pool.withTransaction(timeout: Awaiting.patience) { transaction in
                        _ = try await transaction.query(SQL("LOCK TABLE receipts IN ACCESS EXCLUSIVE MODE"))
                        let frozen = try await day.relay(isReady: false)
                        try await Awaiting.fact("it has read, and is about to send") {
                            (
                                try await day.simulator.requests(path: "/3.1/entitlements").count,
                                try await Self.waiting(in: day.database)
                            )
                        } holds: {
                            $0.0 >= 12 && $0.1 > 0
                        }
                        frozen.process.signal(SIGSTOP)
                        #expect(try await day.control.payments().isEmpty)
                        return frozen
                    }
                }

                let other = try await day.relay()
                #expect(try await AppClient.outcomes(posted.ids, of: other) == ["granted": 12])
                let newer = originals.enumerated().map {
                    TestPurchase(email: "newer-\($0)@example.test", original: $1)
                }
                let late = await AppClient.post(newer, to: other)
                #expect(try await AppClient.outcomes(late.ids, of: other) == ["granted": 12])

                frozen.process.signal(SIGCONT)
                try await Awaiting.fact(
                    "it has let go of everything", of: { try await frozen.metric("relay_pursuits_held") }
                ) {
                    $0 == 0
                }
                #expect(try await day.control.payments().count == 24)
                #expect(try await AppClient.outcomes(late.ids, of: frozen) == ["granted": 12])
                try await day.forwardedProperly(posted + late)
            }
        }

        /// Number of the relay's sessions that wait for a lock.
        private static func waiting(in database: TestDatabase) async throws -> Int {
            try await database.query(
                SQL(
                    """
                    SELECT count(*) FROM pg_stat_activity
                    WHERE datname = current_database() AND application_name = 'receipt-relay' AND wait_event_type = 'Lock'
                    """)
            ).first?.get(0, as: Int.self) ?? 0
        }
    }
}
