import Postgres
import RelayCore
import Testing

@testable import Relay

/// Rows that remain after their validation is gone must not block anything.
@Suite("After a validation is dropped")
struct GoneValidationTests {
    /// Drops the partitions of 500 days ago by hand, without cleaning up references to them.
    private func loseOld(_ database: TestDatabase) async throws {
        for table in ["validations", "receipts", "timeline"] {
            try await database.run(
                "DELETE FROM \(table) WHERE accepted_on < (now() AT TIME ZONE 'UTC')::date - 400")
        }
    }

    @Test(
        "the same purchase posted again is new, whatever rows refer to the old one", arguments: [false, true])
    func freshPurchase(withKey: Bool) async throws {
        try await withStore { database, store in
            let key = withKey ? Acceptance.IdempotencyKey.sample("key", body: "b") : nil
            let old = try await database.age(
                try await store.takeAndGrant(.sample(idempotencyKey: key)), days: 500)
            // While the validation exists, it is unchanged and its idempotency key is known.
            let again = try Acceptance.sample(idempotencyKey: key)
            #expect(try await store.accept(again) == .existing(old))
            try await store.purchases.forget(old, of: again)
            #expect(try await store.accept(again) == .existing(old))
            try await loseOld(database)
            #expect(try await store.accept(again) == .existing(old))
            #expect(try await store.purchases.validation(old) == nil)
            try await store.purchases.forget(old, of: again)
            guard case .created = try await store.accept(again) else {
                Issue.record("not fresh")
                return
            }
            #expect(try await store.accept(try .sample(idempotencyKey: key)) == .existing(again.id))
        }
    }

    @Test("its subscription can still be transferred, and the new owner is visible")
    func transfer() async throws {
        try await withStore { database, store in
            let old = try await database.age(
                try await store.takeAndGrant(.sample(customer: "ana@example.test")), days: 500)
            try await loseOld(database)
            let new = try await store.takeAndGrant(.sample(customer: "ben@example.test"))
            #expect(try await store.status(of: new) == .granted)
            #expect(
                try await database.column("SELECT customer FROM subscriptions", as: String.self) == ["ben@example.test"]
            )
            let transfer = try #require(try await store.ops.detail(new)?.transfer)
            #expect(transfer.fromValidation == old && transfer.from == "ana@example.test")
            #expect(try await store.ops.detail(old) == nil)
            // Then a transfer to a third customer, and back.
            let third = try await store.takeAndGrant(.sample(customer: "cid@example.test"))
            #expect(try await store.status(of: new) == .transferred)
            #expect(try await store.ops.detail(third)?.transfer?.fromValidation == new)
        }
    }

    @Test("a transfer's row is dropped with the new owner's validation")
    func transferRecord() async throws {
        try await withStore { database, store in
            try await store.retention.makePartitions()
            try await database.makeWeek(daysAgo: 500)
            let ana = try await store.takeAndGrant(.sample(customer: "ana@example.test"))
            let ben = try await store.takeAndGrant(.sample(customer: "ben@example.test"))
            let cid = try await store.takeAndGrant(.sample(customer: "cid@example.test"))
            try await database.age(ana, days: 500)
            try await database.age(ben, days: 500)
            #expect(try await database.count("transfers") == 2)
            #expect(try await Passes.run(store).dropped == PartitionedTable.allCases)
            // The old owner's validation of the younger transfer is gone, but the detail still names that customer.
            #expect(try await database.count("transfers") == 1)
            #expect(try await store.ops.detail(cid)?.transfer?.from == "ben@example.test")
            #expect(try await database.count("subscriptions") == 1)
        }
    }
}
