import Foundation
import Postgres
import RelayCore
import Testing

@testable import Relay

/// The server caches the plan of a prepared statement. Queues are empty and vacuumed most of the time. With a plan from
/// then, a sudden crowd would be read whole for each of its rows, which takes longer than any call may.
@Suite("A plan cached while the queue was empty")
struct KeptPlanTests {
    /// The rows become due after the end of the test.
    private static let crowd = """
        INSERT INTO pursuits (
            bucket, id, accepted_on, due_at, accepted_at, deadline, publisher, subscription_key, customer, phase)
        SELECT i % 256, gen_random_uuid(), current_date, now() + interval '1 hour', now(), now() + interval '1 hour', 'main',
               'key ' || i, 'customer ' || i, i % 2
        FROM generate_series(1, 30000) AS i
        """

    @Test("finds due pursuits, their turn and their order among many")
    func pursuits() async throws {
        try await withStore { database, _ in
            let store = await database.store("kept", parameters: ["plan_cache_mode": "force_generic_plan"])
            _ = try await store.publishers.add("main")
            try await database.run("VACUUM ANALYZE pursuits")
            let ana = CustomerKey(publisher: "main", customer: "ana@example.test")
            func all() async throws -> [ClaimedPursuit] {
                var claimed = try await store.purchases.claimExpired(
                    phases: [.forwarding], limit: 200, lease: RelayStore.lease)
                claimed += try await store.purchases.claimSiblings(
                    of: [ana] + (0..<200).map { CustomerKey(publisher: "main", customer: "nobody \($0)") },
                    lease: RelayStore.lease)
                claimed += try await store.purchases.claimDue(limit: 200)
                if let first = claimed.first {
                    claimed += try await store.purchases.claimOvertaken(by: first, lease: RelayStore.lease)
                }
                return claimed
            }
            #expect(try await all().isEmpty)
            try await database.run(Self.crowd)
            var ids: Set<ValidationID> = []
            for number in 0..<3 { ids.insert(try await store.take(.sample(subscription: "s\(number)"))) }
            #expect(Set(try await all().map(\.id)) == ids)
        }
    }

    @Test("finds the first notification")
    func notifications() async throws {
        try await withStore { database, _ in
            let store = await database.store("kept", parameters: ["plan_cache_mode": "force_generic_plan"])
            try await database.run("VACUUM ANALYZE notification_relays")
            #expect(try await store.notifications.claim(limit: 9, lease: .seconds(60)).isEmpty)
            try await database.run(
                """
                INSERT INTO notification_relays (
                    bucket, id, accepted_on, due_at, said_at, received_at, publisher, environment, lane)
                SELECT i % 256, gen_random_uuid(), current_date, now(), now(), now(), 'main', 'Production', 'lane ' || i
                FROM generate_series(1, 30000) AS i
                """)
            #expect(try await store.notifications.claim(limit: 9, lease: .seconds(60)).count == 9)
        }
    }
}
