import Postgres
import RelayCore

/// What of billing nobody came back to: orders that were never committed, and checked subscriptions that never had a contract.
/// Contracts, and the orders and subscriptions of which they were made, are kept for ever.
public enum BillingLeftovers: String, Sendable, CaseIterable {
    case orders
    case externalSubscriptions = "external_subscriptions"

    /// Of one step.
    static let pageSize: Int32 = 2_000

    private static let limit = "(DATE 'epoch' + $1::int4)::timestamp AT TIME ZONE 'UTC'"

    /// Indexes used: `orders_open`, `external_subscriptions_unused`.
    private var condition: String {
        switch self {
        case .orders: "state = 1 AND created_at < \(Self.limit)"
        case .externalSubscriptions: "NOT has_contract AND checked_at < \(Self.limit)"
        }
    }

    /// - Parameter day: the first one that is kept.
    func exist(before day: Int) -> PostgresQuery {
        PostgresQuery(
            "SELECT EXISTS (SELECT FROM \(rawValue) WHERE \(condition))", [.int4(Int32(clamping: day))])
    }

    /// The next page: how many rows it had, and how many of them went. What somebody holds, to commit it, is passed over, and what has
    /// been ordered or committed since is looked at once more: it is no longer old then.
    func removal(before day: Int) -> PostgresQuery {
        let sql =
            switch self {
            case .orders:
                """
                WITH page AS MATERIALIZED (
                    SELECT bucket, id FROM orders WHERE \(condition)
                    ORDER BY created_at
                    LIMIT $2
                    FOR UPDATE SKIP LOCKED
                ), removed AS (
                    DELETE FROM orders o USING page WHERE o.bucket = page.bucket AND o.id = page.id
                )
                SELECT count(*), count(*) FROM page
                """
            case .externalSubscriptions:
                """
                WITH page AS MATERIALIZED (
                    SELECT bucket, id FROM external_subscriptions WHERE \(condition)
                    ORDER BY checked_at
                    LIMIT $2
                    FOR UPDATE SKIP LOCKED
                ), judged AS MATERIALIZED (
                    SELECT page.bucket, page.id, c.contract IS NOT NULL AS has_contract
                    FROM page
                    LEFT JOIN contract_subscriptions c ON c.bucket = page.bucket AND c.external_subscription = page.id
                ), kept AS (
                    UPDATE external_subscriptions e SET has_contract = true
                    FROM judged j
                    WHERE e.bucket = j.bucket AND e.id = j.id AND j.has_contract
                ), removed AS (
                    DELETE FROM external_subscriptions e
                    USING judged j
                    WHERE e.bucket = j.bucket AND e.id = j.id AND NOT j.has_contract
                )
                SELECT count(*), count(*) FILTER (WHERE NOT has_contract) FROM judged
                """
            }
        return PostgresQuery(sql, [.int4(Int32(clamping: day)), .int4(Self.pageSize)])
    }
}

extension RelayStore {
    /// Which of them are there, in the order in which they go.
    ///
    /// - Parameter day: the first one that is kept.
    func billingLeftovers(before day: Int) async throws -> [BillingLeftovers] {
        var found: [BillingLeftovers] = []
        for one in BillingLeftovers.allCases {
            guard try await pool.query(one.exist(before: day)).first?.get(0, as: Bool.self) == true else { continue }
            found.append(one)
        }
        return found
    }

    /// Removes the next page of them.
    ///
    /// - Returns: how many rows went, and whether there may be more.
    func remove(
        _ leftovers: BillingLeftovers, before day: Int, under duty: Duty
    ) async throws -> (count: Int, hasMore: Bool) {
        try await pool.withTransaction(timeout: .seconds(30)) { transaction in
            try await keep(duty, in: transaction)
            guard let row = try await transaction.query(leftovers.removal(before: day)).first else { return (0, false) }
            return (try row.get(1), try row.get(0, as: Int.self) == Int(BillingLeftovers.pageSize))
        }
    }
}
