import Foundation
import Postgres
import RelayCore
import Testing

@testable import Relay

@Suite("Intake")
struct IntakeTests {
    @Test("concurrent purchases share few commits, and each is stored")
    func batching() async throws {
        try await withStore { database, store in
            let intake = store.intake()
            let samples = try (0..<300).map {
                try Acceptance.sample(customer: "c\($0)@example.test", subscription: "\($0)")
            }
            let outcomes = try await acceptAll(samples, by: [intake])
            #expect(outcomes.count == 300)
            #expect(outcomes.allSatisfy { $0.isCreated })
            for table in ["validations", "receipts", "pursuits", "purchases"] {
                #expect(try await database.column("SELECT id FROM \(table)", as: UUID.self).count == 300)
            }
            #expect(
                Set(try await database.column("SELECT id FROM validations", as: UUID.self))
                    == Set(samples.map(\.id.uuid)))
            #expect(try await database.value("SELECT count(DISTINCT xmin::text) FROM validations", as: Int.self) <= 60)
        }
    }

    @Test("validation, receipt, pursuit and purchase come with one commit")
    func oneCommit() async throws {
        try await withStore { database, store in
            try await store.take(.sample(idempotencyKey: .sample("k", body: "b")))
            let transactions = try await database.value(
                """
                SELECT count(DISTINCT x) FROM (
                    SELECT xmin::text AS x FROM validations UNION ALL SELECT xmin::text FROM receipts
                    UNION ALL SELECT xmin::text FROM pursuits UNION ALL SELECT xmin::text FROM purchases
                    UNION ALL SELECT xmin::text FROM idempotency_keys) AS t
                """, as: Int.self)
            #expect(transactions == 1)
        }
    }

    @Test("returned times equal the stored ones")
    func times() async throws {
        try await withStore { database, store in
            let sample = try Acceptance.sample(customer: " Ana@Example.test ")
            guard case .created(let acceptedAt, let deadline) = try await store.accept(sample) else {
                Issue.record("not created")
                return
            }
            let stored = try #require(try await store.purchases.validation(sample.id))
            #expect(stored.acceptedAt == acceptedAt)
            #expect(stored.deadline == deadline)
            #expect(deadline - acceptedAt == RelayStore.timeout)
            #expect(stored.status == .pending)
            #expect(stored.email == sample.email.sent)
            #expect(stored.customer == "ana@example.test")
            #expect(try await database.now() - acceptedAt < .seconds(60))
        }
    }

    @Test(
        "a receipt is stored unchanged",
        arguments: [
            Acceptance.Receipt(isText: false, bytes: Private(Array(0...255) + Array(0...255))),
            Acceptance.Receipt(isText: true, bytes: Private(Array("MIIT%+/ =\r\n\u{1F600}\0".utf8))),
            Acceptance.Receipt(
                isText: false,
                bytes: Private((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 7) })),
            Acceptance.Receipt(isText: true, bytes: Private([])),
        ])
    func receipt(_ receipt: Acceptance.Receipt) async throws {
        try await withStore { database, store in
            let sample = try Acceptance.sample(receipt: receipt)
            try await store.take(sample)
            let purchase = try await store.purchases.purchase(sample.id, by: .receipt)
            let sent = try #require(purchase.receipt)
            #expect(sent.bytes == receipt.bytes)
            #expect(sent.isText == receipt.isText)
            #expect(purchase.email == "ana@example.test")
            #expect(purchase.offerID == sample.offerID)
            #expect(purchase.transactionID == sample.transactionID)
            #expect(purchase.appType == "ios")
            #expect(purchase.ipAddress?.value == "192.0.2.7")
            #expect(purchase.couponCode == "SUMMER")
        }
    }

    @Test("the cache equals the database for waiters; close to the deadline only the database is read")
    func inMemory() async throws {
        try await withStore { database, store in
            try await ChangeFeed(store: store).runOnce()
            let id = try await store.take(.sample(customer: "Ana@Example.test"))
            let stored = try #require(try await store.purchases.validation(id))
            // The cache answers for a second after the feed's latest look.
            func look() { store.memory.validations.looked(at: .now, changed: []) }
            look()
            #expect(store.memory.validations.pending(id)?.validation == stored)
            let hasty = Intake(store: store, validationTimeout: .seconds(1)) {}
            let sample = try Acceptance.sample(subscription: "2")
            #expect(try await hasty.accept(sample).isCreated)
            look()
            #expect(store.memory.validations.pending(sample.id) != nil)
            try await database.run("DELETE FROM validations")
            look()
            #expect(try await store.purchases.awaited(id)?.validation == stored)
            #expect(try await store.purchases.awaited(sample.id) == nil)
        }
    }

    @Test("accepted_at grows within a batch, in the order of submission")
    func order() async throws {
        try await withStore { database, store in
            let samples = try (0..<200).map { try Acceptance.sample(subscription: "\($0)") }
            let query = AcceptStatement.query(samples, timeout: .seconds(60))
            let outcomes = try AcceptStatement.outcomes(of: try await database.hand.query(query), for: samples)
            let moments = outcomes.compactMap(\.outcome.acceptedAt)
            #expect(moments.count == 200)
            #expect(zip(moments, moments.dropFirst()).allSatisfy { $0 < $1 })
            let stored = try await database.column("SELECT id FROM validations ORDER BY accepted_at", as: UUID.self)
            #expect(stored == samples.map(\.id.uuid))
        }
    }

    @Test("a purchase that PostgreSQL refuses fails alone; others in its batch are stored")
    func poison() async throws {
        try await withStore { database, store in
            var samples = try (0..<40).map { try Acceptance.sample(subscription: "\($0)") }
            // Texts and times are made valid before they are sent, so only a constraint of the table can cause a
            // refusal.
            try await database.run("ALTER TABLE validations ADD CHECK (product_id <> 'refused')")
            for index in [17, 31] { samples[index].productID = "refused" }
            let intake = store.intake()
            let errors = await withTaskGroup { group in
                for (index, sample) in samples.enumerated() {
                    group.addTask { (index, await postgresError { try await intake.accept(sample) }) }
                }
                return await group.reduce(into: [Int: PostgresError]()) { $0[$1.0] = $1.1 }
            }
            #expect(errors.keys.sorted() == [17, 31])
            #expect(errors.values.allSatisfy { $0.sqlState == "23514" })
            let stored = Set(try await database.column("SELECT id FROM validations", as: UUID.self))
            let good = samples.indices.filter { $0 != 17 && $0 != 31 }
            #expect(stored == Set(good.map { samples[$0].id.uuid }))
            #expect(try await database.count("pursuits") == 38)
            #expect(try await database.count("purchases") == 38)
        }
    }

    @Test("signals after a commit with something new, and at no other time")
    func bell() async throws {
        try await withStore { database, store in
            let bell = Applied()
            let intake = Intake(store: store, validationTimeout: .seconds(60)) { bell.add("rung") }
            let sample = try Acceptance.sample()
            _ = try await intake.accept(sample)
            #expect(bell.names.count == 1)
            #expect(try await intake.accept(.sample()) == .existing(sample.id))
            #expect(bell.names.count == 1)
        }
    }
}
