import Postgres
import RelayCore

/// Abandoned billing rows: orders that were never committed, and checked subscriptions that never had a contract.
/// Contracts, with their orders and subscriptions, are kept forever.
public enum BillingLeftovers: String, Sendable, CaseIterable {
    case orders
    case externalSubscriptions = "external_subscriptions"

    /// Number of rows in a step.
    fileprivate static let pageSize: Int32 = 2_000

    /// Selects old rows. Indexes used: `orders_open`, `external_subscriptions_unused`.
    ///
    /// - Parameter day: the first day that is kept.
    private func isOld(before day: Int) -> SQL {
        let limit: SQL = "(DATE 'epoch' + \(.int4(Int32(clamping: day))))::timestamp AT TIME ZONE 'UTC'"
        return switch self {
        case .orders: "state = \(OrderState.inProgress) AND created_at < \(limit)"
        case .externalSubscriptions: "NOT has_contract AND checked_at < \(limit)"
        }
    }

    fileprivate func exist(before day: Int) -> SQL {
        "SELECT EXISTS (SELECT FROM \(unescaped: rawValue) WHERE \(isOld(before: day)))"
    }

    /// Removes the next page, and counts its rows and those removed. Rows locked by a commit are skipped. The
    /// conditions are checked again under the lock, so that rows used in the meantime stay.
    fileprivate func removal(before day: Int) -> SQL {
        switch self {
        case .orders:
            """
            WITH page AS MATERIALIZED (
                SELECT bucket, id FROM orders WHERE \(isOld(before: day))
                ORDER BY created_at
                LIMIT \(.int4(Self.pageSize))
                FOR UPDATE SKIP LOCKED
            ), removed AS (
                DELETE FROM orders o USING page WHERE o.bucket = page.bucket AND o.id = page.id
            )
            SELECT count(*) AS met, count(*) AS removed FROM page
            """
        case .externalSubscriptions:
            """
            WITH page AS MATERIALIZED (
                SELECT bucket, id FROM external_subscriptions WHERE \(isOld(before: day))
                ORDER BY checked_at
                LIMIT \(.int4(Self.pageSize))
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
            SELECT count(*) AS met, count(*) FILTER (WHERE NOT has_contract) AS removed FROM judged
            """
        }
    }
}

extension OrderStore {
    /// The kinds with old rows, in the order of removal.
    ///
    /// - Parameter day: the first day that is kept.
    func billingLeftovers(before day: Int) async throws -> [BillingLeftovers] {
        var found: [BillingLeftovers] = []
        for one in BillingLeftovers.allCases {
            guard try await database.query(one.exist(before: day)).first?.get(0, as: Bool.self) == true else {
                continue
            }
            found.append(one)
        }
        return found
    }

    /// Removes the next page.
    ///
    /// - Returns: how many rows were removed, and whether there may be more.
    func remove(
        _ leftovers: BillingLeftovers, before day: Int, under duty: Duty
    ) async throws -> (count: Int, hasMore: Bool) {
        try await database.withTransaction(timeout: .seconds(30)) { transaction in
            try await relay.duties.keep(duty, in: transaction)
            guard let row = try await transaction.query(leftovers.removal(before: day)).first else { return (0, false) }
            return (try row.get("removed"), try row.get("met", as: Int.self) == Int(BillingLeftovers.pageSize))
        }
    }
}
