import Crypto
import Postgres
import RelayCore
import Testing

@testable import Relay

@Suite("A customer whose purchases cannot be composed")
struct UntellableCustomerTests {
    /// An endpoint and three customers, in a sealed database.
    private static func run(_ body: (TestDatabase, RelayStore) async throws -> Void) async throws {
        try await TestDatabase.run { database in
            let vault = Vault()
            vault.state = .sealed(try #require(VaultKeys([1: .init(data: [UInt8](repeating: 1, count: 32))])))
            let store = await database.store("one", vault: vault)
            try await store.schema.migrate()
            _ = try await store.makeEndpoint()
            for number in 0..<3 {
                try await store.takeAndGrant(.sample(customer: "c\(number)@example.test", subscription: "\(number)"))
                try await Notices(store: store, database: database, key: "\(number)").come("SUBSCRIBED", said: 0)
            }
            try await body(database, store)
        }
    }

    @Test("delays no other, and is retried after a pause", arguments: ["ledgers.state", "customers.username"])
    func others(column: String) async throws {
        try await Self.run { database, store in
            // The customer who is notified first.
            let oldest =
                "(SELECT s.subscription_key FROM customers c JOIN subscriptions s ON s.application_username = c.username ORDER BY c.untold_since LIMIT 1)"
            if column == "ledgers.state" {
                try await database.run("UPDATE ledgers SET state = '{' WHERE subscription_key = \(oldest)")
            } else {
                try await database.run(
                    "UPDATE customers SET username = 'sealed1:x' WHERE untold_since = (SELECT min(untold_since) FROM customers)"
                )
            }
            let updates = CustomerUpdates(store: store)
            let told = try await updates.queueMessages(limit: 10)
            #expect(told.messages == 2)
            #expect(try await database.count("customers", where: "untold_since IS NULL") == 2)
            #expect(try await database.count("customers", where: "untold_since > now() + interval '5 minutes'") == 1)
            #expect(try await updates.queueMessages(limit: 10).customers == 0)
        }
    }

    @Test("does not stop a replay of a range", arguments: ["ledgers.state", "webhook_deliveries.lane"], [1, 200])
    func replay(column: String, limit: Int) async throws {
        try await Self.run { database, store in
            let updates = CustomerUpdates(store: store)
            #expect(try await updates.queueMessages(limit: 10).messages == 3)
            try await database.run("UPDATE webhook_deliveries SET state = 4, finished_at = now()")
            let middle = "(SELECT lane FROM webhook_deliveries ORDER BY lane OFFSET 1 LIMIT 1)"
            if column == "ledgers.state" {
                try await database.run(
                    "UPDATE ledgers l SET state = '{' FROM subscriptions s WHERE s.subscription_key = l.subscription_key AND s.application_username = \(middle)"
                )
            } else {
                try await database.run("UPDATE webhook_deliveries SET lane = lane || 'x' WHERE lane = \(middle)")
                // Its customer would be found by the change.
                try await database.run("UPDATE customers SET changed_at = now() - interval '1 day'")
            }
            var outcome = RepeatOutcome()
            let range = RepeatFilter(
                from: try await database.now() + .seconds(-3_600), to: Timestamp.datable.upperBound, limit: limit)
            try await updates.repeatAll(range, in: .all, &outcome)
            #expect(outcome.sent == 2 && outcome.failed == 1 && outcome.reasons.count == 1)
        }
    }
}
