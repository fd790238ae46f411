import NIOConcurrencyHelpers
import Postgres
import RelayCore
import TestRun
import Testing

@testable import Relay

@Suite("Retention beside other work")
struct RetentionCopiesTests {
    @Test(
        "several copies at once drop each partition once, and none fails",
        arguments: TestRun.all([1, 2, 3], otherwise: 1))
    func atOnce(round: Int) async throws {
        try await withStores(4) { database, stores in
            try await stores[0].retention.makePartitions()
            for days in [500, 510, 520] {
                try await database.makeWeek(daysAgo: days)
                let id = try await stores[0].takeAndGrant(.sample(subscription: "\(days)"))
                try await database.age(id, days: days)
            }
            let told = ToldSteps()
            try await withThrowingTaskGroup { group in
                for store in stores {
                    group.addTask { try await Passes.pass(store).run { told.add($0) } }
                }
                try await group.waitForAll()
            }
            // A pass that started while another ran has ended without work. A pass with an outdated look found its
            // partitions already dropped.
            try await eventually {
                try await Passes.run(stores[1])
                return try await database.pastWeeks(of: .validations) == 0
            }
            #expect(told.dropped.filter { $0 == .validations }.count <= 3)
            for table in PartitionedTable.allCases { #expect(try await database.pastWeeks(of: table) == 0) }
            #expect(try await database.count("purchases") == 0)
        }
    }

    @Test("a copy that lost the duty changes nothing; a dead one is replaced after its lease")
    func fenced() async throws {
        try await withStores(2) { database, stores in
            try await database.makeWeek(daysAgo: 500)
            let id = try await database.age(try await stores[0].takeAndGrant(.sample()), days: 500)
            let duty = try #require(try await stores[0].duties.take(.retention))
            #expect(try await stores[1].duties.take(.retention) == nil)
            let held = try await Passes.run(stores[1])
            #expect(held.all == [.elsewhere])
            #expect(try await store(stores[1], has: id))

            try await database.run("UPDATE duties SET expires_at = now()")
            let next = try #require(try await stores[1].duties.take(.retention))
            #expect(next.fence > duty.fence)
            let look = try await stores[0].retention.lookAtPartitions(Passes.policy)
            let week = try #require(look.plan(Passes.policy).drops.last)
            await #expect(throws: Duty.Lost.self) { try await stores[0].retention.drop(week, under: duty) }
            await #expect(throws: Duty.Lost.self) {
                try await stores[0].retention.forgetPointers(after: .start, in: week, under: duty)
            }
            await #expect(throws: Duty.Lost.self) {
                try await stores[0].retention.removeFromDefault(of: .receipts, bucket: 0, before: 99_999, under: duty)
            }
            // A copy that leaves does not take the duty from its present holder.
            try await stores[0].duties.release(duty)
            #expect(try await stores[0].duties.take(.retention) == nil)
            #expect(try await database.count("purchases") == 1)
            #expect(try await stores[1].retention.drop(week, under: next) == .dropped)
        }
    }

    /// Timeline: a copy took the duty while the database's clock was ahead; the clock is put right.
    @Test("a lease that ends later than any pause does not count")
    func leaseOfTheFuture() async throws {
        try await withStores(2) { database, stores in
            let duty = try #require(try await stores[0].duties.take(.missedNotifications))
            try await stores[0].duties.release(duty, for: .seconds(86_400))
            #expect(try await stores[1].duties.take(.missedNotifications) == nil)
            try await database.run("UPDATE duties SET expires_at = now() + interval '30 days'")
            #expect(try await stores[1].duties.take(.missedNotifications) != nil)
        }
    }

    private func store(_ store: RelayStore, has id: ValidationID) async throws -> Bool {
        try await store.purchases.validation(id) != nil
    }

    @Test("a long read does not delay the intake: the drop gives up, and is repeated")
    func longRead() async throws {
        try await withStores(2) { database, stores in
            try await stores[0].retention.makePartitions()
            try await database.makeWeek(daysAgo: 500)
            try await database.age(try await stores[0].takeAndGrant(.sample()), days: 500)
            let intake = stores[1].intake()
            let isOver = NIOLockedValueBox(false)
            let accepted = NIOLockedValueBox(0)
            let told = ToldSteps()
            try await withThrowingTaskGroup { group in
                for worker in 0..<4 {
                    group.addTask {
                        var number = 0
                        while !isOver.withLockedValue({ $0 }) {
                            number += 1
                            _ = try await intake.accept(.sample(subscription: "load-\(worker)-\(number)"))
                            accepted.withLockedValue { $0 += 1 }
                        }
                    }
                }
                // Like a backup or a report: a transaction that has read the table and stays open.
                try await database.hand.withTransaction(timeout: .seconds(180)) { transaction in
                    _ = try await transaction.query(SQL("SELECT count(*) FROM validations"))
                    for _ in 0..<3 { try await Passes.pass(stores[0]).run { told.add($0) } }
                    // Purchases are accepted while that transaction is still open.
                    let before = accepted.withLockedValue { $0 }
                    try await eventually { accepted.withLockedValue { $0 } >= before + 20 }
                }
                // The other tables are dropped at once, since no transaction has read them.
                #expect(told.locked == [.validations, .validations, .validations])
                #expect(told.dropped == PartitionedTable.allCases.filter { $0 != .validations })
                try await eventually {
                    try await Passes.pass(stores[0]).run { told.add($0) }
                    return told.dropped.contains(.validations)
                }
                isOver.withLockedValue { $0 = true }
                try await group.waitForAll()
            }
            #expect(try await database.pastWeeks(of: .validations) == 0)
        }
    }
}
