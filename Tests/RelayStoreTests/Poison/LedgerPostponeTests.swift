import Postgres
import RelayCore
import Testing

@testable import Relay

@Suite("A postponed ledger")
struct LedgerPostponeTests {
    private func claimOne(_ items: QueuedItems) async throws -> ClaimedSubscription {
        let claimed = try await items.store.subscriptions.claimDue(limit: 1, lease: .seconds(60))
        try #require(claimed.count == 1)
        return claimed[0]
    }

    @Test("becomes due after the pause; a worker whose lease has expired postpones nothing")
    func fence() async throws {
        try await QueuedItems.run(.subscriptions) { items in
            try await items.database.run(
                "UPDATE ledgers SET due_at = NULL WHERE subscription_key <> (SELECT min(subscription_key) FROM ledgers)"
            )
            let stale = try await claimOne(items)
            try await items.database.run("UPDATE ledgers SET due_at = now() - interval '1 s' WHERE due_at IS NOT NULL")
            let current = try await claimOne(items)
            #expect(current.name == stale.name)
            let far = "due_at > now() + interval '1 hour'"
            #expect(
                try await items.store.queues.postpone(stale.row, trouble: "stale", by: .seconds(7_200)) == false)
            #expect(try await items.database.count("ledgers", where: "\(far) OR trouble = 'stale'") == 0)
            #expect(try await items.store.queues.postpone(current.row, trouble: "away", by: .seconds(7_200)))
            #expect(try await items.database.count("ledgers", where: "\(far) AND trouble = 'away'") == 1)
            // A cleared row has no lease.
            try await items.store.queues.clear([current.row])
            #expect(try await items.store.queues.postpone(current.row, trouble: "late", by: .zero) == false)
        }
    }
}
