import Postgres
import RelayCore
import Testing

@testable import Relay

@Suite("Settlements of other processes")
struct ChangeFeedTests {
    @Test("wakes waiters here")
    func otherProcess() async throws {
        try await withStores(2) { database, stores in
            let claimed = try await stores[1].takeAndClaim(.sample())
            let waiter = stores[0].memory.changes.register(claimed.id)
            defer { waiter.leave() }
            let feed = ChangeFeed(store: stores[0])
            try await feed.runOnce()
            #expect(await waiter.wait(until: .now).kind == "timeout")
            try await stores[1].write(claimed.granted())
            try await feed.runOnce()
            #expect(await waiter.wait(until: .now + .seconds(180)).kind == "granted")
        }
    }

    @Test("include a former owner's end, an operator's act, and a deadline")
    func kinds() async throws {
        try await withStores(2) { database, stores in
            let old = try await stores[1].takeAndGrant(.sample(customer: "ana@example.test"))
            let abandoned = try await stores[1].takeAndClaim(.sample(subscription: "2"))
            try await stores[1].write(abandoned.watching(until: abandoned.pursuit.deadline))
            let late = try await stores[1].takeAndClaim(.sample(subscription: "3"))
            let waiters = [old, abandoned.id, late.id].map { stores[0].memory.changes.register($0) }
            try await stores[1].takeAndGrant(.sample(customer: "ben@example.test"))
            try await stores[1].ops.abandon(abandoned.id, by: "ops", reason: "test")
            try await stores[1].write(late.timedOut(restingUntil: late.pursuit.deadline))
            try await ChangeFeed(store: stores[0]).runOnce()
            #expect(await waiters[0].wait(until: .now + .seconds(180)).kind == "transferred")
            #expect(await waiters[1].wait(until: .now + .seconds(180)).kind == "rejected")
            #expect(await waiters[2].wait(until: .now + .seconds(180)).kind == "timed_out")
            for waiter in waiters { waiter.leave() }
        }
    }

    @Test("are not read without waiters and cached answers")
    func nobodyWaits() async throws {
        try await withStores(2) { database, stores in
            let id = try await stores[1].takeAndGrant(.sample())
            let feed = ChangeFeed(store: stores[0])
            // Makes the next look fail.
            try await database.run("ALTER TABLE timeline RENAME TO away")
            try await feed.runOnce()
            let waiter = stores[0].memory.changes.register(try Acceptance.sample().id)
            let error = await postgresError { try await feed.runOnce() }
            #expect(error?.sqlState == "42P01")
            waiter.leave()
            try await feed.runOnce()
            #expect(try await stores[0].purchases.polled(id)?.validation.status == .granted)
            let second = await postgresError { try await feed.runOnce() }
            #expect(second?.sqlState == "42P01")
        }
    }

    @Test("are reported once, since the look before")
    func overlap() async throws {
        try await withStores(2) { database, stores in
            let id = try await stores[1].takeAndGrant(.sample())
            let waiter = stores[0].memory.changes.register(id)
            defer { waiter.leave() }
            let feed = ChangeFeed(store: stores[0])
            try await feed.runOnce()
            #expect(await waiter.wait(until: .now + .seconds(180)).kind == "granted")
            try await feed.runOnce()
            #expect(await waiter.wait(until: .now).kind == "timeout")
        }
    }

    @Test("after a long gap, everything awaited is read again")
    func gap() async throws {
        try await withStores(2) { database, stores in
            let claimed = try await stores[1].takeAndClaim(.sample())
            let waiter = stores[0].memory.changes.register(claimed.id)
            defer { waiter.leave() }
            let steady = ChangeFeed(store: stores[0])
            let gappy = ChangeFeed(store: stores[0], longestGap: .zero)
            try await steady.runOnce()
            try await stores[1].write(claimed.granted())
            try await database.run("UPDATE timeline SET recorded_at = recorded_at - interval '60 seconds'")
            try await steady.runOnce()
            #expect(await waiter.wait(until: .now).kind == "timeout")
            try await gappy.runOnce()
            #expect(await waiter.wait(until: .now + .seconds(180)).kind == "granted")
        }
    }

    @Test("are read again after an outage of the database")
    func afterFailure() async throws {
        try await withStores(2) { database, stores in
            let claimed = try await stores[1].takeAndClaim(.sample())
            let waiter = stores[0].memory.changes.register(claimed.id)
            defer { waiter.leave() }
            let feed = ChangeFeed(store: stores[0], tick: .milliseconds(1))
            try await feed.runOnce()
            try await database.run("ALTER TABLE timeline RENAME COLUMN recorded_at TO away")
            let error = await postgresError { try await feed.runOnce() }
            #expect(error?.sqlState == "42703")
            try await database.run("ALTER TABLE timeline RENAME COLUMN away TO recorded_at")
            try await stores[1].write(claimed.granted())
            let running = Task { await feed.run() }
            #expect(await waiter.wait(until: .now + .seconds(180)).kind == "granted")
            running.cancel()
            await running.value
        }
    }

    @Test("update cached answers")
    func keptAnswer() async throws {
        try await withStores(2) { database, stores in
            let id = try await stores[1].takeAndGrant(.sample(customer: "ana@example.test"))
            let feed = ChangeFeed(store: stores[0])
            try await feed.runOnce()
            #expect(try await stores[0].purchases.polled(id)?.validation.status == .granted)
            #expect(stores[0].purchases.settled(id)?.validation.status == .granted)
            try await stores[1].takeAndGrant(.sample(customer: "ben@example.test"))
            #expect(stores[0].purchases.settled(id)?.validation.status == .granted)
            try await feed.runOnce()
            #expect(stores[0].purchases.settled(id) == nil)
            #expect(try await stores[0].purchases.polled(id)?.validation.status == .transferred)
        }
    }

    /// The look has begun before the poll and ends after it: the poll's first answer is older than the look's.
    @Test("wake a poll that arrived during the look and was answered from the cache")
    func pendingFromMemory() async throws {
        try await withStores(2) { database, stores in
            let feed = ChangeFeed(store: stores[0])
            // On a slow machine the cache does not answer, since the last look is too long ago.
            for attempt in 0..<50 {
                let id = try await stores[0].take(.sample(subscription: "\(attempt)"))
                let claimed = try await stores[1].claimOne(of: .common)
                _ = try await stores[0].purchases.known(id)
                try await feed.runOnce()
                try await stores[1].write(claimed.granted())
                let (looking, waiter, told) = try await database.hand.withTransaction { transaction in
                    _ = try await transaction.query("LOCK TABLE timeline IN ACCESS EXCLUSIVE MODE")
                    let looking = Task { try await feed.runOnce() }
                    try await database.waitUntilBlocked()
                    let waiter = stores[0].memory.changes.register(id)
                    return (looking, waiter, try await stores[0].purchases.awaited(id)?.validation.status)
                }
                defer { waiter.leave() }
                try await looking.value
                guard told == .pending else { continue }
                #expect(await waiter.wait(until: .now + .seconds(180)).kind == "granted")
                #expect(try await stores[0].purchases.awaited(id)?.validation.status == .granted)
                return
            }
            Issue.record("memory never said pending")
        }
    }

    @Test("are not needed for this process's own changes")
    func ownChange() async throws {
        try await withStores(1) { database, stores in
            let store = stores[0]
            let id = try await store.takeAndGrant(.sample(customer: "ana@example.test"))
            try await ChangeFeed(store: store).runOnce()
            #expect(try await store.purchases.polled(id)?.validation.status == .granted)
            try await store.takeAndGrant(.sample(customer: "ben@example.test"))
            #expect(try await store.purchases.polled(id)?.validation.status == .transferred)
        }
    }
}
