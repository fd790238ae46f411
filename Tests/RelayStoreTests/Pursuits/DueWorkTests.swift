import RelayCore
import Testing

@testable import Relay

@Suite("The query for due work")
struct DueWorkTests {
    private func due(_ store: RelayStore) async throws -> Set<DueWork> {
        Set(try await store.queues.due().works)
    }

    @Test("finds each kind of work when it is due, until it is claimed")
    func eachKind() async throws {
        try await withStore { database, store in
            #expect(try await due(store) == [])
            try await store.take(.sample())
            #expect(try await due(store) == [.purchases])
            let claimed = try await store.claimOne()
            #expect(try await due(store) == [])
            try await store.write(claimed.granted())
            #expect(try await due(store) == [.customers])
            try await database.run("UPDATE ledgers SET due_at = now()")
            #expect(try await due(store) == [.customers, .subscriptions])
            _ = try await CustomerUpdates(store: store).queueMessages(limit: 9)
            #expect(try await due(store) == [.subscriptions])
            let ledgers = try await store.subscriptions.claimDue(limit: 9, lease: .seconds(60))
            #expect(try await due(store) == [])
            try await store.queues.clear(ledgers.map(\.row))
            _ = try await store.subscriptions.record(ledgers.map { LedgerMessage($0.name) })

            _ = try await store.events.receive(topic: "test", body: [0x7b, 0x7d], now: try await database.now())
            #expect(try await due(store) == [.events])
            for event in try await store.events.claim(limit: 9, lease: .seconds(60)) {
                try await store.events.finish(event, outcome: "done")
            }
            #expect(try await due(store) == [])
        }
    }

    @Test("finds notifications and messages that must be sent, and no parked rows")
    func queues() async throws {
        try await withStore { database, store in
            let endpoint = try await store.makeEndpoint()
            try await Notices(store: store, database: database).come("DID_RENEW", said: 0)
            #expect(try await due(store) == [.notifications])
            try await database.run("UPDATE notification_relays SET parked_at = now()")
            #expect(try await due(store) == [])
            try await store.takeAndGrant(.sample())
            _ = try await CustomerUpdates(store: store).queueMessages(limit: 9)
            #expect(try await due(store).contains(.webhooks))
            _ = try await store.webhooks.claim(endpoint, 9)
            #expect(try await !due(store).contains(.webhooks))
        }
    }

    @Test("shows future due times, and whether another copy is alive")
    func ahead() async throws {
        try await withStore { database, store in
            try await store.take(.sample())
            try await database.run("UPDATE pursuits SET due_at = now() + interval '30 seconds'")
            #expect(try await store.queues.due() == DueLook(works: [], isAlone: true))
            #expect(try await store.queues.due(within: .seconds(60)).works == [.purchases])
            let other = await database.store("another")
            try await other.readClock()
            try await other.instances.report(
                InstanceReport(state: .ok, since: try await database.now(), lastError: nil), role: "worker")
            #expect(try await !store.queues.due().isAlone)
            #expect(try await other.queues.due().isAlone)
            try await database.run("UPDATE instances SET seen_at = now() - interval '1 hour'")
            #expect(try await store.queues.due().isAlone)
        }
    }
}
