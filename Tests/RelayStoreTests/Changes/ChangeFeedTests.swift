import Postgres
import RelayCore
import Testing

@testable import RelayStore

@Suite("What other processes have settled")
struct ChangeFeedTests {
    @Test("wakes who waits here")
    func otherProcess() async throws {
        try await withStores(2) { database, stores in
            let claimed = try await stores[1].takeAndClaim(.sample())
            let waiter = stores[0].changes.register(claimed.id)
            defer { waiter.leave() }
            let feed = ChangeFeed(store: stores[0])
            try await feed.runOnce()
            #expect(await waiter.wait(until: .now).kind == "timeout")
            try await stores[1].write(claimed.granted())
            try await feed.runOnce()
            #expect(await waiter.wait(until: .now + .seconds(20)).kind == "granted")
        }
    }

    @Test("includes the old owner's end, an operator's word, and a deadline")
    func kinds() async throws {
        try await withStores(2) { database, stores in
            let old = try await stores[1].takeAndGrant(.sample(customer: "ana@example.test"))
            let abandoned = try await stores[1].takeAndClaim(.sample(subscription: "2"))
            let late = try await stores[1].takeAndClaim(.sample(subscription: "3"))
            let waiters = [old, abandoned.id, late.id].map { stores[0].changes.register($0) }
            try await stores[1].takeAndGrant(.sample(customer: "ben@example.test"))
            try await stores[1].abandon(abandoned.id, by: "ops", reason: "test")
            try await stores[1].write(late.timedOut(restingUntil: late.pursuit.deadline))
            try await ChangeFeed(store: stores[0]).runOnce()
            #expect(await waiters[0].wait(until: .now + .seconds(20)).kind == "transferred")
            #expect(await waiters[1].wait(until: .now + .seconds(20)).kind == "rejected")
            #expect(await waiters[2].wait(until: .now + .seconds(20)).kind == "timed_out")
            for waiter in waiters { waiter.leave() }
        }
    }

    @Test("is not looked at while nobody waits")
    func nobodyWaits() async throws {
        try await withStores(2) { database, stores in
            // A look would fail.
            try await database.run("ALTER TABLE timeline RENAME TO away")
            try await ChangeFeed(store: stores[0]).runOnce()
            let waiter = stores[0].changes.register(try Acceptance.sample().id)
            let error = await postgresError { try await ChangeFeed(store: stores[0]).runOnce() }
            #expect(error?.sqlState == "42P01")
            waiter.leave()
        }
    }

    @Test("goes on after the database was away, and reaches back over the gap")
    func afterFailure() async throws {
        try await withStores(2) { database, stores in
            let claimed = try await stores[1].takeAndClaim(.sample())
            let waiter = stores[0].changes.register(claimed.id)
            defer { waiter.leave() }
            try await stores[1].write(claimed.granted())
            try await database.run("UPDATE timeline SET recorded_at = recorded_at - interval '60 seconds'")
            let feed = ChangeFeed(store: stores[0], tick: .milliseconds(1))
            try await feed.runOnce()
            #expect(await waiter.wait(until: .now).kind == "timeout")
            try await database.run("ALTER TABLE timeline RENAME COLUMN recorded_at TO away")
            let running = Task { await feed.run() }
            // The third to wait for the table is no longer the first look, nor that one made again by the pool.
            for _ in 0..<3 {
                try await database.hand.withTransaction { transaction in
                    _ = try await transaction.query(PostgresQuery("LOCK TABLE timeline IN ACCESS EXCLUSIVE MODE"))
                    try await database.waitUntilBlocked()
                }
            }
            try await database.run("ALTER TABLE timeline RENAME COLUMN away TO recorded_at")
            #expect(await waiter.wait(until: .now + .seconds(20)).kind == "granted")
            running.cancel()
            await running.value
        }
    }
}
