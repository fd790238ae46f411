import Postgres
import RelayCore

/// A reason why granted access may be wrong. Raw values are the order of display.
public enum AccessProblem: Int16, Sendable, CaseIterable {
    /// The ledger is parked, or has no due time, which is a fault of the relay.
    case unwatched
    /// The subscription is past its end, and neither the store nor Cleeng has answered.
    case overdue
    /// The catalogue has the product, but not under the granted offer.
    case mismatch

    public var name: String { "\(self)" }

    /// Problems that an index finds at once in a healthy system: cheap enough to count on every scrape.
    public static let quick: [Self] = [.unwatched, .overdue]

    /// Keys of ledgers with this problem, in key order.
    ///
    /// - Parameter after: condition for the page.
    func keys(where after: SQL, limit: PostgresValue) -> SQL {
        """
        SELECT bucket, publisher, environment, subscription_key, \(self)::int2 AS problem
        FROM ledgers l
        WHERE \(condition) AND NOT has_moved AND \(after)
        ORDER BY 1, 2, 3, 4
        LIMIT \(limit)
        """
    }

    /// Counts the ledgers with this problem.
    fileprivate func count(in scope: OpsScope) -> SQL {
        """
        SELECT \(self)::int2 AS problem, count(*) AS count FROM ledgers l
        WHERE \(condition) AND NOT has_moved AND \(scope.includes("l.publisher"))
        """
    }

    /// Condition on `ledgers l`. `status` is null until the first evaluation after a grant.
    private var condition: SQL {
        let isEntitled: SQL =
            "IN (\(SubscriptionState.Status.active), \(SubscriptionState.Status.inGrace))"
        let mayBeEntitled: SQL = "coalesce(status, \(SubscriptionState.Status.active)) \(isEntitled)"
        switch self {
        case .unwatched:
            // Indexes used: `ledgers_never_due`, `ledgers_parked`.
            return """
                (parked_at IS NOT NULL AND granted_at IS NOT NULL AND \(mayBeEntitled)
                 OR due_at IS NULL AND parked_at IS NULL AND status \(isEntitled) AND granted_at IS NOT NULL)
                """
        case .overdue:
            // A failed question is asked again within ten minutes, and a worker evaluates a due ledger within seconds.
            // Index used: `ledgers_due`.
            return """
                due_at < now() + interval '15 minutes' AND granted_at IS NOT NULL AND \(mayBeEntitled)
                 AND coalesce(expires_at, granted_until) < now()
                 AND (trouble IS NOT NULL OR due_at < now() - interval '1 minute')
                """
        case .mismatch:
            // Compares all running subscriptions with the catalogue, which takes a second for a million of them. Index
            // used for the rest: `validations_subscription`.
            return """
                status \(isEntitled) AND granted_offer IS NOT NULL
                 AND \(Self.isSold()) AND NOT \(Self.isSold(under: "l.granted_offer"))
                 AND EXISTS (
                     SELECT FROM validations v
                     WHERE v.bucket = l.bucket AND v.subscription_key = l.subscription_key AND v.publisher = l.publisher
                       AND v.environment = l.environment AND v.status = \(ValidationStatus.granted)
                       AND v.offer_id = l.granted_offer)
                """
        }
    }

    private static func isSold() -> SQL {
        "EXISTS (SELECT FROM offer_products p WHERE p.publisher = l.publisher AND p.product_id = \(product))"
    }

    /// The offer may also have one of the product's base plans. The ledger's columns do not name the plan.
    private static func isSold(under offer: SQL) -> SQL {
        """
        EXISTS (
            SELECT FROM offer_products p
            WHERE p.publisher = l.publisher AND p.offer_id = \(offer)
              AND (p.product_id = \(product) OR starts_with(p.product_id, \(product) || ':')))
        """
    }

    private static let product: SQL = "\(StorePlatform.name("l.subscription_key")) || ':' || l.product_id"
}

extension OpsStore {
    /// Number of subscriptions with each of these problems. ``AccessProblem/mismatch`` takes about a second for a
    /// million subscriptions.
    public func count(_ problems: [AccessProblem], in scope: OpsScope) async throws -> [AccessProblem: Int] {
        let sql = problems.map { $0.count(in: scope) }.reduce(nil as SQL?) { all, one in
            all.map { "\($0) UNION ALL \(one)" } ?? one
        }
        guard let sql else { return [:] }
        var counts: [AccessProblem: Int] = [:]
        for row in try await database.query(sql) { counts[try row.constant("problem")] = try row.get("count") }
        return counts
    }
}
