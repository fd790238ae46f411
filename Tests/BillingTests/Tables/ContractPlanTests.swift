import Postgres
import RelayCore
import Testing

@testable import Billing
@testable import Relay

@Suite("What billing adds to other transactions")
struct ContractPlanTests {
    private func plan(_ sql: SQL, _ store: RelayStore) async throws -> String {
        try await store.database.query("EXPLAIN \(sql)").map { try $0.get(0, as: String.self) }.joined(separator: "\n")
    }

    /// In tables that nobody has analysed.
    @Test("is read by indexes")
    func indexes() async throws {
        try await withStore { database, store in
            try await database.run(
                """
                INSERT INTO contract_subscriptions (
                    bucket, external_subscription, publisher, contract, customer, platform, environment,
                    subscription_key, ledger_bucket, added_at)
                SELECT n % 256, lpad(to_hex(n), 24, '0'), 'main', lpad(to_hex(n), 24, '1'), lpad(to_hex(n), 24, '2'), 'apple',
                       'Production', n::text, n % 256, now()
                FROM generate_series(1, 20000) n
                """)
            let names = (1...20).map {
                SubscriptionName(
                    publisher: "main", environment: .production, originalTransactionID: TransactionID("\($0)"))
            }
            let look = try await plan(ContractStatements.look(for: names), store)
            #expect(
                look.contains("contract_subscriptions_pkey") && !look.contains("Seq Scan on contract_subscriptions"))
            let publishers = try #require(StoredFeature.billing.publishers)
            let known = try await plan(publishers(.text("1"), "publisher IS NOT NULL"), store)
            #expect(known.contains("Index") && !known.contains("Seq Scan on contract_subscriptions"), "\(known)")
        }
    }
}
