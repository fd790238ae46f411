import Postgres
import RelayCore
import Testing

@testable import Relay

@Suite("The right to read a customer's entitlement")
struct EntitlementReadTests {
    private let ana = CustomerKey(publisher: "main", customer: "ana@example.test")
    /// Longer than the time between two statements on any machine.
    private let interval = Duration.seconds(600)

    @Test("is granted once in an interval; an early request gets the next time")
    func once() async throws {
        try await withStore { database, store in
            let before = try await database.now()
            #expect(try await store.purchases.nextReads(of: [ana], interval: interval) == [ana: nil])
            let after = try await database.now()
            let answer = try await store.purchases.nextReads(of: [ana], interval: interval)
            let next = try #require(answer[ana] ?? nil)
            #expect((before + interval...after + interval).contains(next))
            #expect(try await store.purchases.nextReads(of: [ana], interval: interval) == [ana: next])
        }
    }

    @Test("is granted again after the interval, and not before")
    func again() async throws {
        try await withStore { database, store in
            _ = try await store.purchases.nextReads(of: [ana], interval: .seconds(600))
            try await database.letPass(seconds: 500)
            #expect(try await store.purchases.nextReads(of: [ana], interval: .seconds(600))[ana] != .some(nil))
            try await database.letPass(seconds: 100)
            #expect(try await store.purchases.nextReads(of: [ana], interval: .seconds(600)) == [ana: nil])
        }
    }

    /// Guards against a question that is due and never asked, because apps read the same customer at every turn.
    @Test("is kept for a moment for a caller that was refused and waits")
    func kept() async throws {
        try await withStore { database, store in
            func take(waits: Bool) async throws -> Timestamp? {
                try #require(try await store.purchases.takeReads(of: [ana], interval: interval, waits: waits)[ana])
                    .nextAt
            }
            #expect(try await take(waits: false) == nil)
            let turn = try #require(try await take(waits: true))
            try await database.letPass(seconds: 600)
            let later = try #require(try await take(waits: false))
            #expect(later > turn - .seconds(600))
            #expect(try await take(waits: true) == nil)
            // Nothing waits any more.
            try await database.letPass(seconds: 600)
            #expect(try await take(waits: false) == nil)
            // It waits for a moment only.
            #expect(try await take(waits: true) != nil)
            try await database.letPass(seconds: 603)
            #expect(try await take(waits: false) == nil)
        }
    }

    @Test("is granted to one of many concurrent requests of any process", arguments: 1...3)
    func concurrent(round: Int) async throws {
        try await withStores(2) { database, stores in
            let customers = (0..<10).map { CustomerKey(publisher: "main", customer: "c\($0)@example.test") }
            let answers = try await withThrowingTaskGroup { group in
                for number in 0..<20 {
                    group.addTask {
                        try await stores[number % 2].purchases.nextReads(
                            of: customers.shuffled(), interval: .seconds(600))
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            let moments = Set(
                try await database.column("SELECT read_at FROM entitlement_reads", as: PostgresTimestamp.self))
            for customer in customers {
                #expect(answers.filter { $0[customer] == .some(nil) }.count == 1)
                #expect(answers.allSatisfy { $0[customer] != nil })
            }
            #expect(moments.count <= 20)
            let earliest = try #require(moments.min()).microsecondsSince1970
            #expect(
                answers.flatMap(\.values).compactMap { $0 }.allSatisfy { $0.microseconds >= earliest + 600_000_000 })
        }
    }

    @Test("is granted to one of two requests in the same microsecond")
    func sameMicrosecond() async throws {
        try await TestDatabase.run { database in
            try await database.freezeTransactionTime()
            let stores = [await database.store("one"), await database.store("two")]
            try await stores[0].schema.migrate()
            #expect(try await stores[0].purchases.nextReads(of: [ana], interval: interval)[ana] == .some(nil))
            #expect(try await stores[1].purchases.nextReads(of: [ana], interval: interval)[ana] != .some(nil))
            try await database.moveFrozenTime(seconds: 600)
            #expect(try await stores[1].purchases.nextReads(of: [ana], interval: interval)[ana] == .some(nil))
            #expect(try await stores[0].purchases.nextReads(of: [ana], interval: interval)[ana] != .some(nil))
        }
    }

    @Test("is separate for each customer and publisher")
    func apart() async throws {
        try await withStore { database, store in
            _ = try await store.purchases.nextReads(of: [ana], interval: interval)
            let others = [
                CustomerKey(publisher: "other", customer: ana.customer),
                CustomerKey(publisher: "main", customer: "ben@example.test"),
            ]
            let answers = try await store.purchases.nextReads(of: [ana] + others, interval: interval)
            #expect(answers.count == 3)
            #expect(answers[others[0]] == .some(nil))
            #expect(answers[others[1]] == .some(nil))
            #expect(answers[ana] != .some(nil))
        }
    }

    @Test("waits in every copy until the upstream's requested time")
    func held() async throws {
        try await withStores(2) { database, stores in
            let ben = CustomerKey(publisher: "main", customer: "ben@example.test")
            _ = try await stores[0].purchases.nextReads(of: [ana], interval: interval)
            let before = try await database.now()
            // Holds for customers with and without an earlier read. A shorter pause does not replace a longer one.
            for customer in [ana, ben] {
                try await stores[0].purchases.holdReads(of: customer, for: .seconds(3_000), interval: interval)
                try await stores[1].purchases.holdReads(of: customer, for: .seconds(200), interval: interval)
            }
            let after = try await database.now()
            let answers = try await stores[1].purchases.nextReads(of: [ana, ben], interval: interval)
            for customer in [ana, ben] {
                let next = try #require(answers[customer] ?? nil)
                #expect((before + .seconds(3_000)...after + .seconds(3_000)).contains(next))
            }
            try await database.letPass(seconds: 2_900)
            #expect(
                try await stores[0].purchases.nextReads(of: [ana, ben], interval: interval).values.allSatisfy {
                    $0 != nil
                })
            try await database.letPass(seconds: 100)
            #expect(
                try await stores[0].purchases.nextReads(of: [ana, ben], interval: interval) == [ana: nil, ben: nil])
        }
    }

    @Test("is removed by the upkeep only if it was granted long ago")
    func pruning() async throws {
        try await withStore { database, store in
            _ = try await store.purchases.nextReads(of: [ana], interval: interval)
            try await database.letPass(seconds: 4_000)
            let ben = CustomerKey(publisher: "main", customer: "ben@example.test")
            _ = try await store.purchases.nextReads(of: [ben], interval: interval)
            #expect(try await store.purchases.pruneReads() == 1)
            #expect(
                try await database.column("SELECT customer FROM entitlement_reads", as: String.self) == [
                    ben.customer.text
                ])
        }
    }
}

extension PurchaseStore {
    /// `nil` if the customer may be read now, otherwise the time of the next read.
    fileprivate func nextReads(
        of customers: [CustomerKey], interval: Duration
    ) async throws -> [CustomerKey: Timestamp?] {
        try await takeReads(of: customers, interval: interval).mapValues(\.nextAt)
    }
}
