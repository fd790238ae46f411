import Foundation
import Postgres
import RelayCore
import Testing

@testable import Relay

@Suite("Settling")
struct SettlementTests {
    @Test("a grant writes everything that follows from it, in one transaction, and ends the pursuit")
    func granted() async throws {
        try await withStore { database, store in
            let sample = try Acceptance.sample()
            let claimed = try await store.takeAndClaim(sample)
            let expiresAt = claimed.pursuit.acceptedAt + .seconds(2_592_000)
            let before = try await database.now()
            try await store.write(claimed.granted(expiresAt: expiresAt))

            let stored = try #require(try await store.purchases.validation(sample.id))
            #expect(stored.status == .granted && !stored.late)
            #expect(stored.settledAt == claimed.soon)
            #expect(stored.expiresAt == expiresAt)
            let detail = try #require(try await store.ops.detail(sample.id))
            #expect(detail.evidence == #"{"status":"active"}"#)
            #expect(detail.attempts == 1)
            #expect(detail.timeline.map(\.event.kind) == [.accepted, .forwarded, .entitlementRead, .granted])
            #expect(detail.timeline.dropFirst().allSatisfy { $0.instance == "one" })
            #expect(detail.timeline[1].event.latency == .milliseconds(40))
            #expect(detail.timeline[1].event.upstreamStatus == 200)
            #expect(detail.leaseOwner == nil && detail.nextStepAt == nil)

            #expect(try await database.count("pursuits") == 0)
            #expect(try await database.value("SELECT status FROM purchases", as: Int.self) == 1)
            let owner = try await database.value(
                "SELECT customer || ' ' || id::text FROM subscriptions", as: String.self)
            #expect(owner == "ana@example.test \(sample.id.uuid.uuidString.lowercased())")
            let ownedSince = try await database.value(
                "SELECT owned_since FROM subscriptions", as: PostgresTimestamp.self)
            #expect(ownedSince >= before.postgres)
            let word = try await database.value("SELECT username || ' ' || reason FROM customers", as: String.self)
            #expect(word == "ana@example.test PURCHASED")
            let transactions = try await database.value(
                """
                SELECT count(DISTINCT x) FROM (
                    SELECT xmin::text AS x FROM validations UNION ALL SELECT xmin::text FROM purchases
                    UNION ALL SELECT xmin::text FROM timeline UNION ALL SELECT xmin::text FROM subscriptions
                    UNION ALL SELECT xmin::text FROM customers) AS t
                """, as: Int.self)
            #expect(transactions == 1)
        }
    }

    @Test("a rejection stores Cleeng's reason, ends the pursuit, makes no owner and notifies no publisher")
    func rejected() async throws {
        try await withStore { database, store in
            let claimed = try await store.takeAndClaim(.sample())
            try await store.write(claimed.rejected(code: "ER_RECEIPT"))
            let stored = try #require(try await store.purchases.validation(claimed.id))
            #expect(stored.status == .rejected)
            #expect(stored.reason == "ER_RECEIPT")
            #expect(try await database.count("pursuits") == 0)
            #expect(try await database.value("SELECT status FROM purchases", as: Int.self) == 2)
            #expect(try await database.count("subscriptions") == 0)
            #expect(try await database.count("customers") == 0)
        }
    }

    @Test("a passed deadline is written, and the pursuit continues until a late grant")
    func timedOut() async throws {
        try await withStore { database, store in
            let claimed = try await store.takeAndClaim(.sample())
            try await store.write(claimed.watching(until: claimed.pursuit.deadline))
            try await database.letPass(seconds: 61)
            let woken = try await store.claimOne()
            let until = woken.pursuit.deadline + .seconds(600)
            try await store.write(woken.timedOut(restingUntil: until))
            let stored = try #require(try await store.purchases.validation(claimed.id))
            #expect(stored.status == .timedOut && !stored.late)
            #expect(stored.settledAt == woken.pursuit.deadline)
            #expect(try await database.value("SELECT status FROM purchases", as: Int.self) == 3)
            let due = try await database.value("SELECT due_at FROM pursuits", as: PostgresTimestamp.self)
            #expect(due == until.postgres)

            try await database.makeDue(claimed.id)
            let again = try await store.claimOne()
            #expect(again.pursuit.status == .timedOut)
            #expect(again.pursuit.phase == .watching)
            try await store.write(again.granted(observedAt: until))
            let late = try #require(try await store.purchases.validation(claimed.id))
            #expect(late.status == .granted && late.late)
            #expect(try await database.value("SELECT status FROM purchases", as: Int.self) == 1)
            #expect(try await database.count("pursuits") == 0)
        }
    }

    @Test("an end of the watch without a statement keeps timed_out and ends the pursuit")
    func watchOver() async throws {
        try await withStore { database, store in
            let claimed = try await store.takeAndClaim(.sample())
            try await store.write(claimed.timedOut(restingUntil: claimed.pursuit.deadline))
            try await database.makeDue(claimed.id)
            let again = try await store.claimOne()
            try await store.write(
                PursuitWrite(claimed: again, pursuit: again.pursuit, change: nil, events: [], next: .finished))
            #expect(try await store.status(of: claimed.id) == .timedOut)
            #expect(try await database.count("pursuits") == 0)
        }
    }

    @Test("a grant without evidence is refused, and nothing of it is written")
    func noEvidence() async throws {
        try await withStore { database, store in
            let claimed = try await store.takeAndClaim(.sample())
            var write = claimed.granted()
            write.change?.evidence = nil
            let error = await postgresError { try await store.outcome(of: write) }
            #expect(error?.sqlState == "23514")
            #expect(try await store.status(of: claimed.id) == .pending)
            #expect(try await database.count("subscriptions") == 0)
            #expect(try await database.count("pursuits") == 1)
            // The lease is still valid: the worker can park the pursuit, and operators see the reason.
            try await store.purchases.park(claimed, why: "\(String(describing: error))")
            let detail = try #require(try await store.ops.detail(claimed.id))
            #expect(detail.parking?.reason.contains("23514") == true)
            #expect(detail.timeline.last?.event.kind == .parked)
            #expect(detail.timeline.last?.event.detail?.isEmpty == false)
        }
    }

    @Test("a settlement from another status than the validation's is refused as a whole")
    func otherStatus() async throws {
        try await withStore { database, store in
            let claimed = try await store.takeAndClaim(.sample())
            try await database.run("UPDATE validations SET status = 2, settled_at = now()")
            await #expect(throws: StoreError.self) { try await store.outcome(of: claimed.granted()) }
            #expect(try await store.status(of: claimed.id) == .rejected)
            #expect(try await database.count("timeline") == 0)
            #expect(try await database.count("subscriptions") == 0)
        }
    }

    @Test("a batch with one lost lease settles the others")
    func staleInBatch() async throws {
        try await withStores(2) { database, stores in
            for number in 0..<4 {
                try await stores[0].take(.sample(customer: "c\(number)@example.test", subscription: "\(number)"))
            }
            let claimed = try await stores[0].purchases.claimDue()
            try #require(claimed.count == 4)
            try await database.makeDue(claimed[2].id)
            let taken = try await stores[1].claimOne()
            let writes = [
                claimed[0].granted(), claimed[1].rejected(), claimed[2].granted(),
                claimed[3].timedOut(restingUntil: claimed[3].pursuit.deadline),
            ]
            #expect(try await stores[0].purchases.settle(writes) == [.written, .written, .leaseLost, .written])
            #expect(try await stores[0].status(of: claimed[0].id) == .granted)
            #expect(try await stores[0].status(of: claimed[1].id) == .rejected)
            #expect(try await stores[0].status(of: claimed[2].id) == .pending)
            #expect(try await stores[0].status(of: claimed[3].id) == .timedOut)
            #expect(try await database.count("subscriptions") == 1)
            #expect(try await database.count("customers") == 1)
            #expect(
                try await stores[1].purchases.renew([(taken.id, taken.fence)], lease: .seconds(60)).renewed == [
                    taken.id
                ])
        }
    }

    @Test("a settlement that PostgreSQL refuses fails alone; others in its batch are written")
    func poison() async throws {
        try await withStore { database, store in
            for number in 0..<20 {
                try await store.take(.sample(customer: "c\(number)@example.test", subscription: "\(number)"))
            }
            try await database.run("ALTER TABLE validations ADD CHECK (evidence <> 'refused')")
            let claimed = try await store.purchases.claimDue()
            try #require(claimed.count == 20)
            let writer = PursuitWriter(store: store)
            let failed = await withTaskGroup { group in
                for (index, one) in claimed.enumerated() {
                    var write = one.granted()
                    if index == 7 { write.change?.evidence = "refused" }
                    group.addTask { (index, await postgresError { try await writer.write(write) }) }
                }
                return await group.reduce(into: [Int: PostgresError]()) { $0[$1.0] = $1.1 }
            }
            #expect(failed.keys.sorted() == [7])
            #expect(failed[7]?.sqlState == "23514")
            #expect(try await database.count("validations", where: "status = 1") == 19)
            #expect(try await store.status(of: claimed[7].id) == .pending)
        }
    }

    @Test("notifies waiters in this process after the commit")
    func publishes() async throws {
        try await withStore { database, store in
            let claimed = try await store.takeAndClaim(.sample())
            let waiter = store.memory.changes.register(claimed.id)
            defer { waiter.leave() }
            try await store.write(claimed.granted())
            #expect(await waiter.wait(until: .now + .seconds(180)).changed?.status == .granted)
        }
    }

    @Test("long texts of Cleeng are truncated, not refused")
    func longWords() async throws {
        try await withStore { database, store in
            let claimed = try await store.takeAndClaim(.sample())
            try await store.write(claimed.rejected(code: String(repeating: "x", count: 100_000)))
            #expect(try await store.purchases.validation(claimed.id)?.reason?.count == 300)
            #expect(try await database.value("SELECT max(length(detail)) FROM timeline", as: Int.self) == 500)
        }
    }
}
