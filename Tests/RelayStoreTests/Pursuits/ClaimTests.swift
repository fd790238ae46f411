import Postgres
import RelayCore
import Testing

@testable import Relay

@Suite("Claiming due pursuits")
struct ClaimTests {
    @Test("uses the due time, and respects the limit")
    func order() async throws {
        try await withStore { database, store in
            var ids: [ValidationID] = []
            for number in 0..<6 {
                ids.append(try await store.take(.sample(subscription: "\(number)")))
                try await database.run(
                    "UPDATE pursuits SET due_at = now() - $2::int4 * interval '1 second' WHERE id = $1",
                    .uuid(ids[number].uuid), .int4(Int32(10 + number)))
            }
            #expect(Set(try await store.purchases.claimDue(limit: 2).map(\.id)) == [ids[5], ids[4]])
            #expect(Set(try await store.purchases.claimDue(limit: 3).map(\.id)) == [ids[3], ids[2], ids[1]])
            #expect(try await store.purchases.claimDue(limit: 3).map(\.id) == [ids[0]])
            #expect(try await store.purchases.claimDue(limit: 3).isEmpty)
        }
    }

    @Test("leaves pursuits that are not due")
    func notDue() async throws {
        try await withStore { database, store in
            let id = try await store.take(.sample())
            try await database.run("UPDATE pursuits SET due_at = now() + interval '1 minute'")
            #expect(try await store.purchases.claimDue().isEmpty)
            try await database.makeDue(id)
            #expect(try await store.purchases.claimDue().map(\.id) == [id])
        }
    }

    @Test("returns everything that the pursuit needs")
    func contents() async throws {
        try await withStore { database, store in
            let sample = try Acceptance.sample()
            let first = try await store.takeAndClaim(sample)
            let stored = try #require(try await store.purchases.validation(sample.id))
            #expect(first.fence == 1)
            #expect(first.isSending)
            #expect(!first.overtakes && !first.isOvertaken)
            #expect(first.publisher == "main")
            #expect(first.subscriptionKey == sample.subscriptionKey)
            #expect(first.customer == "ana@example.test")
            #expect(first.email == sample.email.sent)
            #expect(first.offerID == sample.offerID)
            #expect(first.pursuit == Pursuit(acceptedAt: stored.acceptedAt, deadline: stored.deadline))

            var write = first.watching(until: first.soon)
            write.pursuit.entitledBefore = false
            write.pursuit.foundSynchronization = true
            try await store.write(write)
            try await database.makeDue(first.id)
            let second = try await store.claimOne()
            #expect(second.fence == 2)
            #expect(!second.isSending)
            #expect(second.pursuit == write.pursuit)
            #expect(second.pursuit.phase == .watching)
            #expect(second.pursuit.forwards == 1)
            #expect(store.memory.clock.now != nil)
        }
    }

    @Test("never returns a pursuit to two concurrent workers")
    func once() async throws {
        try await withStores(3) { database, stores in
            let samples = try (0..<200).map { try Acceptance.sample(subscription: "\($0)") }
            _ = try await acceptAll(samples, by: [stores[0].intake()])
            try await database.run("UPDATE pursuits SET due_at = now() - interval '1 second'")
            let claimed = try await withThrowingTaskGroup { group in
                for number in 0..<12 {
                    group.addTask {
                        var mine: [ClaimedPursuit] = []
                        while true {
                            let more = try await stores[number % 3].purchases.claimDue(limit: 7)
                            mine += more
                            // A claim skips rows that others hold at this moment, so it may return none although some
                            // remain.
                            if more.isEmpty, try await database.count("pursuits", where: "fence = 0") == 0 {
                                return mine
                            }
                        }
                    }
                }
                return try await group.reduce(into: [ClaimedPursuit]()) { $0 += $1 }
            }
            #expect(claimed.count == 200)
            #expect(Set(claimed.map(\.id)) == Set(samples.map(\.id)))
            #expect(claimed.allSatisfy { $0.fence == 1 })
        }
    }

    @Test("skips a row that another worker is claiming, without waiting")
    func skipLocked() async throws {
        try await withStore { database, store in
            let held = try await store.take(.sample(subscription: "1"))
            let free = try await store.take(.sample(subscription: "2"))
            try await database.hand.withTransaction { transaction in
                _ = try await transaction.query(
                    SQL("SELECT id FROM pursuits WHERE id = $1 FOR UPDATE", [.uuid(held.uuid)]))
                #expect(try await store.purchases.claimDue().map(\.id) == [free])
            }
        }
    }

    @Test("returns a dead worker's pursuits after their lease, with a higher fence")
    func leaseExpiry() async throws {
        try await withStores(2) { database, stores in
            let first = try await stores[0].takeAndClaim(.sample())
            #expect(try await stores[1].purchases.claimDue().isEmpty)
            try await database.makeDue(first.id)
            let second = try await stores[1].claimOne()
            #expect(second.id == first.id)
            #expect(second.fence > first.fence)
            #expect(second.isSending)
            #expect(try await database.value("SELECT owner FROM pursuits", as: String.self) == "store-1")
        }
    }

    @Test("holds the lease for as long as asked")
    func leaseLength() async throws {
        try await withStore { database, store in
            try await store.take(.sample())
            let before = try await database.now()
            _ = try await store.purchases.claimDue(limit: 1, lease: .seconds(6))
            let after = try await database.now()
            let due = try await database.value("SELECT due_at FROM pursuits", as: PostgresTimestamp.self)
            let end = Timestamp(microseconds: due.microsecondsSince1970)
            #expect((before + .seconds(6)...after + .seconds(6)).contains(end))
        }
    }

    @Test("leaves parked pursuits")
    func parked() async throws {
        try await withStore { database, store in
            let claimed = try await store.takeAndClaim(.sample())
            try await store.purchases.park(claimed, why: "it cannot be written")
            try await database.makeDue(claimed.id)
            #expect(try await store.purchases.claimDue().isEmpty)
            // The worker that parked the pursuit no longer has a claim.
            #expect(try await store.outcome(of: claimed.rejected()) == .leaseLost)
        }
    }

    @Test("includes a customer's other pursuits that wait for a read, due or not")
    func siblings() async throws {
        try await withStores(2) { database, stores in
            let later = Timestamp(microseconds: try await database.now().microseconds) + .seconds(600)
            var ids: [ValidationID] = []
            for number in 0..<3 {
                let claimed = try await stores[0].takeAndClaim(.sample(subscription: "\(number)"))
                try await stores[0].write(claimed.watching(until: later))
                ids.append(claimed.id)
            }
            // Excluded are pursuits of another customer or publisher, unsent ones and claimed ones.
            let others = try [
                Acceptance.sample(customer: "ben@example.test", subscription: "4"),
                .sample(subscription: "5", publisher: "other"),
            ]
            for other in others {
                try await stores[0].write(try await stores[0].takeAndClaim(other).watching(until: later))
            }
            try await stores[0].take(.sample(subscription: "6"))
            try await database.makeDue(ids[2])
            let held = try #require(try await stores[0].purchases.claimDue().first { $0.id == ids[2] })

            let key = CustomerKey(publisher: "main", customer: "ana@example.test")
            let siblings = try await stores[1].purchases.claimSiblings(of: [key], lease: .seconds(60))
            #expect(Set(siblings.map(\.id)) == Set(ids[..<2]))
            #expect(siblings.allSatisfy { $0.fence == 2 && $0.pursuit.phase == .watching && !$0.isSending })
            #expect(try await stores[1].purchases.claimSiblings(of: [key], lease: .seconds(60)).isEmpty)
            // The claimed pursuit belongs to its holder until the lease expires.
            #expect(
                try await stores[0].purchases.renew([(held.id, held.fence)], lease: .seconds(60)).renewed == [held.id])
            try await database.makeDue(held.id)
            #expect(try await stores[1].purchases.claimSiblings(of: [key], lease: .seconds(60)).map(\.id) == [held.id])
        }
    }
}
