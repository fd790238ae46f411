import Postgres
import RelayCore
import Testing

@testable import Relay

@Suite("A delayed settlement")
struct HeldUpTests {
    /// 3.0: the settlement begins and waits for a lock. 3.5: the deadline; apps read the timeout. 3.6: the grant is
    /// written.
    @Test("past the deadline is late, however early it was decided, and the change feed finds it")
    func late() async throws {
        try await withStore { database, store in
            let sample = try Acceptance.sample()
            let claimed = try await store.takeAndClaim(sample)
            let write = claimed.granted()
            let settling = try await database.hand.withTransaction { transaction in
                _ = try await transaction.query(SQL("SELECT id::text FROM pursuits FOR UPDATE"))
                let settling = Task { try await store.outcome(of: write) }
                // The settlement has begun once it waits.
                while try await database.count("pg_stat_activity", where: "wait_event_type = 'Lock'") == 0 {}
                try await database.run("UPDATE validations SET deadline = clock_timestamp()")
                return settling
            }
            #expect(try await settling.value == .written)
            let stored = try #require(try await store.purchases.validation(sample.id))
            #expect(stored.status == .granted)
            #expect(stored.late)
            let settledAt = try #require(stored.settledAt)
            #expect(settledAt >= stored.deadline)
            let isSeen = try await database.value(
                """
                SELECT bool_and(t.recorded_at >= v.deadline) FROM timeline t JOIN validations v ON v.id = t.id
                WHERE t.event = 1
                """, as: Bool.self)
            #expect(isSeen)
        }
    }
}
