import Postgres
import RelayCore
import Testing

@testable import Billing
@testable import Relay

@Suite("A commit that conflicts with other transactions")
struct CommitRaceTests {
    /// Timeline: another open transaction has inserted a contract for the subscription. The commit inserts its own row
    /// and waits. The other transaction commits, and the unique key is violated.
    @Test("is repeated if another transaction made the contract, and returns the conflict")
    func uniqueViolation() async throws {
        try await Billing.run { billing in
            let subscription = try await billing.check("1000000001").id
            let order = try await billing.order(subscription)
            let hand = billing.database.hand
            let outcome = try await hand.withTransaction { transaction in
                _ = try await transaction.query(
                    SQL(
                        """
                        INSERT INTO contract_subscriptions
                        SELECT bucket, id, publisher, '66aa00000000000000000001', '66aa00000000000000000002', platform,
                               environment, subscription_key, 0, now()
                        FROM external_subscriptions
                        """))
                let task = Task { try await billing.commit(order) }
                try await billing.database.waitUntilBlocked()
                return task
            }
            #expect(try await outcome.value == .conflict)
            #expect(try await billing.store.orders.order(order.id, publisher: "main")?.state == .inProgress)
            #expect(try await billing.database.count("contracts") == 0)
        }
    }

    /// Timeline: another transaction holds the subscription's ledger, and then waits for the row that the commit holds.
    @Test("is repeated if the server ends it as a deadlock")
    func deadlock() async throws {
        try await Billing.run { billing in
            let subscription = try await billing.check("1000000001").id
            let first = try await billing.order(subscription)
            let other = try await billing.check("1000000002").id
            _ = try await billing.contract(of: other)
            // The ledger must exist so that it can be locked.
            _ = try await billing.store.subscriptions.record(
                [
                    LedgerMessage(
                        SubscriptionName(
                            publisher: "main", environment: "Sandbox", originalTransactionID: "1000000001"))
                ])
            for _ in 0..<3 {
                let task = try await billing.database.hand.withTransaction { transaction in
                    // With a long deadlock timeout here, the server ends the commit's transaction and not this one.
                    _ = try await transaction.query(SQL("SELECT set_config('deadlock_timeout', '20s', true)"))
                    _ = try await transaction.query(
                        SQL("SELECT 1 FROM ledgers WHERE subscription_key = '1000000001' FOR UPDATE"))
                    let task = Task { try await billing.commit(first) }
                    try await billing.database.waitUntilBlocked()
                    _ = try await transaction.query(
                        SQL(
                            "SELECT 1 FROM external_subscriptions WHERE id = $1 FOR UPDATE",
                            [
                                .text(subscription.description)
                            ]))
                    return task
                }
                guard case .contract(let contract) = try await task.value else {
                    Issue.record("no contract")
                    return
                }
                #expect(contract.id == first.contract)
                guard try await billing.database.count("contracts") == 1 else { break }
            }
        }
    }
}
