import Postgres
import RelayCore
import Testing

@testable import Billing
@testable import Relay

@Suite("Retention of unused billing rows")
struct BillingRetentionTests {
    /// Changes all rows as if they had been written that many days ago.
    private static func age(_ database: TestDatabase, days: Int) async throws {
        for (table, column) in [("orders", "created_at"), ("external_subscriptions", "checked_at")] {
            try await database.run("UPDATE \(table) SET \(column) = \(column) - interval '\(days) days'")
        }
    }

    @Test("deletes uncommitted orders and subscriptions without a contract, and nothing with one")
    func removal() async throws {
        try await Billing.run { billing in
            let (store, database) = (billing.store, billing.database)
            try await store.retention.makePartitions()
            let kept = try await billing.check("1000000001").id
            // An order whose commit came too late, and one that was never committed.
            let loser = try await billing.order(kept)
            let contract = try await billing.contract(of: kept)
            let lost = try await billing.order(try await billing.check("1000000002").id)
            _ = try await billing.check("1000000003")
            try await Self.age(database, days: 399)
            #expect(try await Passes.run(store).all.isEmpty)
            try await Self.age(database, days: 2)
            // An old subscription that was ordered again today.
            let open = try await billing.order(try await billing.check("1000000004").id)

            let dry = try await Passes.run(store, isDryRun: true).all
            #expect(dry == [.wouldClear(.orders), .wouldClear(.externalSubscriptions)])
            let told = try await Passes.run(store).all
            #expect(told == [.cleared(.orders, rows: 2), .cleared(.externalSubscriptions, rows: 2)])
            for gone in [loser, lost] { #expect(try await store.orders.order(gone.id, publisher: "main") == nil) }
            #expect(try await billing.commit(lost) == .unknownOrder)
            #expect(try await store.orders.list(of: "main", BillingPage()).count == 2)
            #expect(try await database.count("contract_subscriptions") == 1)
            #expect(try await database.count("external_subscriptions", where: "has_contract") == 1)
            #expect(try await billing.check("1000000001").contract?.id == contract.id)
            // Another pass finds nothing to do, and an open order can still be committed.
            #expect(try await Passes.run(store).all.isEmpty)
            guard case .contract = try await billing.commit(open) else {
                Issue.record("no contract")
                return
            }
        }
    }

    @Test("an old subscription has the age of its newest order or commit")
    func young() async throws {
        try await Billing.run { billing in
            let (store, database) = (billing.store, billing.database)
            let subscription = try await billing.check("1000000001").id
            try await Self.age(database, days: 500)
            let order = try await billing.order(subscription)
            #expect(try await Passes.run(store).all.isEmpty)
            #expect(try await store.orders.order(order.id, publisher: "main") == order)
        }
    }

    /// Timeline: the commit of an old order locks its rows; a retention pass runs; the commit continues.
    @Test("rows that are being committed are skipped")
    func held() async throws {
        try await Billing.run { billing in
            let (store, database) = (billing.store, billing.database)
            let order = try await billing.order(try await billing.check("1000000001").id)
            try await Self.age(database, days: 500)
            // The ledger is locked, so that the commit waits in the middle.
            _ = try await store.subscriptions.record(
                [
                    LedgerMessage(
                        SubscriptionName(
                            publisher: "main", environment: "Sandbox", originalTransactionID: "1000000001"))
                ])
            let commit = try await database.hand.withTransaction { transaction in
                _ = try await transaction.query(SQL("SELECT 1 FROM ledgers FOR UPDATE"))
                let commit = Task { try await billing.commit(order) }
                try await database.waitUntilBlocked()
                #expect(try await Passes.run(store).all.isEmpty)
                return commit
            }
            guard case .contract = try await commit.value else {
                Issue.record("no contract")
                return
            }
            #expect(try await Passes.run(store).all.isEmpty)
            #expect(try await store.orders.order(order.id, publisher: "main")?.state == .completed)
        }
    }

    @Test("rows are deleted in pages, and a short pass leaves the rest to the next")
    func pages() async throws {
        try await Billing.run { billing in
            let (store, database) = (billing.store, billing.database)
            try await database.run(
                """
                INSERT INTO external_subscriptions (
                    bucket, id, publisher, platform, environment, subscription_key, checked_at, is_trial)
                SELECT n % 256, lpad(to_hex(n), 22, '0') || lpad(to_hex(n % 256), 2, '0'), 'main', 'apple', 'Sandbox',
                       n::text, now() - interval '500 days', false
                FROM generate_series(1, 4500) AS n
                """)
            let short = ToldSteps()
            try await Passes.pass(store, budget: .zero).run { short.add($0) }
            #expect(short.all == [.cleared(.externalSubscriptions, rows: 2_000), .unfinished])
            let told = try await Passes.run(store).all
            #expect(told == [.cleared(.externalSubscriptions, rows: 2_500)])
            #expect(try await database.count("external_subscriptions") == 0)
        }
    }
}
