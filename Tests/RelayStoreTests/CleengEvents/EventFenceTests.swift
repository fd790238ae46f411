import Postgres
import RelayCore
import Testing

@testable import Relay

@Suite("A claim of an event")
struct EventFenceTests {
    private static let lease = Duration.seconds(60)

    private func receive(_ store: RelayStore, _ database: TestDatabase) async throws -> ReceiveOutcome {
        try await store.events.receive(topic: "t", body: [1], now: try await database.now())
    }

    private func claimOne(_ store: RelayStore) async throws -> ClaimedEvent {
        let claimed = try await store.events.claim(limit: 9, lease: Self.lease)
        try #require(claimed.count == 1)
        return claimed[0]
    }

    private func expireLease(_ database: TestDatabase) async throws {
        try await database.run("UPDATE cleeng_events SET due_at = now() - interval '1 second'")
    }

    @Test("does not end the event if it was sent again in the meantime", arguments: [nil, Duration.seconds(60)])
    func repeated(again: Duration?) async throws {
        try await withStore { database, store in
            #expect(try await receive(store, database) == .stored)
            let first = try await claimOne(store)
            #expect(try await receive(store, database) == .repeated)
            #expect(try await store.events.finish(first, outcome: "first", again: again) == false)
            let second = try await claimOne(store)
            // The repeat resets the number of attempts.
            #expect(second.attempts == first.attempts && second.receivedAt > first.receivedAt)
            #expect(try await store.events.finish(first, outcome: "first", again: again) == false)
            #expect(try await store.events.finish(second, outcome: "second"))
            #expect(try await database.column("SELECT outcome FROM cleeng_events", as: String.self) == ["second"])
            #expect(try await store.queues.due().works == [])
        }
    }

    @Test("changes nothing once its lease has expired and another claim has followed")
    func stale() async throws {
        try await withStores(2) { database, stores in
            _ = try await receive(stores[0], database)
            let stale = try await claimOne(stores[0])
            try await expireLease(database)
            let current = try await claimOne(stores[1])
            #expect(current.attempts == stale.attempts + 1)
            #expect(try await stores[0].events.finish(stale, outcome: "stale") == false)
            #expect(try await stores[1].events.finish(current, outcome: "waits", again: .milliseconds(100)))
            try await expireLease(database)
            #expect(try await stores[0].events.finish(stale, outcome: "stale") == false)
            let next = try await claimOne(stores[1])
            #expect(try await stores[1].events.finish(next, outcome: "done"))
            #expect(try await database.column("SELECT outcome FROM cleeng_events", as: String.self) == ["done"])
        }
    }

    @Test("does not end the event if an operator replayed it in the meantime")
    func replayed() async throws {
        try await withStore { database, store in
            _ = try await receive(store, database)
            let first = try await claimOne(store)
            #expect(try await store.ops.replayEvent(first.id, in: .all, by: "ops", reason: "again"))
            #expect(try await store.events.finish(first, outcome: "first") == false)
            #expect(try await store.events.finish(try await claimOne(store), outcome: "second"))
        }
    }
}
