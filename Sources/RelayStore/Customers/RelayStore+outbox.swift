import Postgres
import RelayCore

extension RelayStore {
    /// What copies of the version before have written, which knew customers by their emails alone. Indexes used: the primary key,
    /// `validations_customer`.
    private static let leftSQL = """
        WITH gone AS (
            DELETE FROM outbox o
            USING (SELECT bucket, publisher, customer FROM outbox LIMIT 200 FOR UPDATE SKIP LOCKED) AS page
            WHERE o.bucket = page.bucket AND o.publisher = page.publisher AND o.customer = page.customer
            RETURNING o.*
        )
        SELECT v.publisher, ROW(v.sealed_by, v.application_username), g.reason, v.environment, v.subscription_key
        FROM gone g
        JOIN validations v ON v.customer = g.customer AND v.accepted_on = g.accepted_on AND v.id = g.id
        """

    /// Takes over what copies of the version before have left to be told.
    ///
    /// - Returns: how much there was.
    public func adoptOutbox() async throws -> Int {
        try await pool.withTransaction { transaction in
            let changes = try await transaction.query(PostgresQuery(Self.leftSQL)).map { row in
                CustomerChange(
                    customer: CustomerName(publisher: try row.get(0), username: try row.open(1)),
                    reason: CustomerChange.Reason(rawValue: try row.get(2)) ?? .other,
                    subscription: SubscriptionName(
                        publisher: try row.get(0), environment: try row.get(3), originalTransactionID: try row.get(4)))
            }
            if !changes.isEmpty { _ = try await transaction.query(CustomerChange.write(changes)) }
            return changes.count
        }
    }
}
