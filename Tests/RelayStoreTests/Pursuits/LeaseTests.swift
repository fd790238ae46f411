import Postgres
import RelayCore
import Testing

@testable import Relay

@Suite("Leases")
struct LeaseTests {
    private func due(_ id: ValidationID, in database: TestDatabase) async throws -> Timestamp {
        let due = try await database.value(
            "SELECT due_at FROM pursuits WHERE id = $1", .uuid(id.uuid), as: PostgresTimestamp.self)
        return Timestamp(microseconds: due.microsecondsSince1970)
    }

    @Test("are renewed together, and lost ones are reported")
    func renew() async throws {
        try await withStores(2) { database, stores in
            for number in 0..<3 { try await stores[0].take(.sample(subscription: "\(number)")) }
            let claimed = try await stores[0].purchases.claimDue(limit: 3, lease: .seconds(30))
            try #require(claimed.count == 3)
            try await database.makeDue(claimed[1].id)
            let taken = try await stores[1].claimOne()
            let before = try await due(taken.id, in: database)

            let renewed = try await stores[0].purchases.renew(claimed.map { ($0.id, $0.fence) }, lease: .seconds(300))
            #expect(renewed.renewed == [claimed[0].id, claimed[2].id] && renewed.busy.isEmpty)
            let limit = try await database.now() + .seconds(200)
            #expect(try await due(claimed[0].id, in: database) > limit)
            #expect(try await due(claimed[2].id, in: database) > limit)
            #expect(try await due(taken.id, in: database) == before)
            // A pursuit with a renewed lease can still be written.
            try await stores[0].write(claimed[0].rejected())
        }
    }

    @Test("are renewed although another transaction has locked one of their rows")
    func renewBesideALock() async throws {
        try await withStore { database, store in
            for number in 0..<3 { try await store.take(.sample(subscription: "\(number)")) }
            let claimed = try await store.purchases.claimDue(limit: 3, lease: .seconds(30))
            try #require(claimed.count == 3)
            let renewed = try await database.hand.withTransaction { transaction in
                _ = try await transaction.query(
                    SQL("SELECT FROM pursuits WHERE id = $1 FOR UPDATE", [.uuid(claimed[1].id.uuid)]))
                return try await store.purchases.renew(claimed.map { ($0.id, $0.fence) }, lease: .seconds(300))
            }
            #expect(renewed.renewed == [claimed[0].id, claimed[2].id] && renewed.busy == [claimed[1].id])
        }
    }

    @Test("that are released can be claimed by another copy at once")
    func giveBack() async throws {
        try await withStores(2) { database, stores in
            let claimed = try await stores[0].takeAndClaim(.sample())
            try await stores[0].purchases.giveBack([(id: ValidationID, fence: Int32)]())
            #expect(try await stores[1].purchases.claimDue().isEmpty)
            try await stores[0].purchases.giveBack([(claimed.id, claimed.fence)])
            let taken = try await stores[1].claimOne()
            #expect(taken.id == claimed.id)
            #expect(taken.fence == claimed.fence + 1)
            #expect(taken.isSending)
        }
    }

    @Test("released with a time are due then, with their results")
    func release() async throws {
        try await withStore { database, store in
            let claimed = try await store.takeAndClaim(.sample())
            let until = claimed.pursuit.acceptedAt + .seconds(30)
            try await store.write(claimed.failed(retryAt: until))
            #expect(try await due(claimed.id, in: database) == until)
            #expect(try await database.count("pursuits", where: "owner IS NULL AND NOT sending AND forwards = 1") == 1)
            let events = try #require(try await store.ops.detail(claimed.id)).timeline.map(\.event.kind)
            #expect(events == [.accepted, .forwardFailed])
        }
    }

    @Test("of a batch: a stale one is reported, and the others are written")
    func batchOfReleases() async throws {
        try await withStores(2) { database, stores in
            for number in 0..<3 { try await stores[0].take(.sample(subscription: "\(number)")) }
            let claimed = try await stores[0].purchases.claimDue()
            try #require(claimed.count == 3)
            try await database.makeDue(claimed[1].id)
            let taken = try await stores[1].claimOne()
            let writes = claimed.map { $0.failed(retryAt: $0.pursuit.deadline) }
            #expect(try await stores[0].purchases.release(writes) == [.written, .leaseLost, .written])
            #expect(try await database.count("timeline") == 2)
            #expect(
                try await stores[1].purchases.renew([(taken.id, taken.fence)], lease: .seconds(60)).renewed == [
                    taken.id
                ])
        }
    }

    @Test("are written concurrently in any order without deadlocks")
    func noDeadlock() async throws {
        try await withStore { _, store in
            for number in 0..<120 { try await store.take(.sample(subscription: "\(number)")) }
            let claimed = try await store.purchases.claimDue(limit: 120, lease: .seconds(60))
            try #require(claimed.count == 120)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<6 {
                    group.addTask {
                        for _ in 0..<25 {
                            let some = claimed.shuffled().prefix(80).map { ($0.id, $0.fence) }
                            _ = try await store.purchases.renew(some, lease: .seconds(60))
                        }
                    }
                }
                group.addTask {
                    for claimed in claimed.suffix(40) { try await store.write(claimed.rejected()) }
                }
                try await group.waitForAll()
            }
        }
    }
}
