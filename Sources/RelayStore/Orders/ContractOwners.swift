import Postgres
import RelayCore

/// Whose external subscriptions are: of which contract, and of which publisher's app.
enum ContractOwners {
    /// Index used: the primary key.
    private static let contractsSQL = """
        SELECT i.ordinal, c.contract, c.customer
        FROM unnest($1::int2[], $2::text[]) WITH ORDINALITY AS i(bucket, id, ordinal)
        JOIN contract_subscriptions c ON c.bucket = i.bucket AND c.external_subscription = i.id
        ORDER BY i.ordinal
        """

    /// As with notifications: an app that others have keys for, and this publisher has none for, is theirs, whatever this one sends about
    /// its purchases. The whole of a small table.
    private static let foreignSQL = """
        SELECT k.app
        FROM api_keys k
        WHERE k.app = ANY ($1::text[]) AND k.app <> '' AND k.revoked_at IS NULL
        GROUP BY k.app
        HAVING bool_and(k.publisher <> $2)
        """

    static func contracts(of names: [SubscriptionName]) -> PostgresQuery {
        let ids = names.map { BillingID(external: $0) }
        return PostgresQuery(
            contractsSQL, [.int2Array(ids.map { Int16($0.bucket.number) }), .textArray(ids.map(\.description))])
    }

    /// By name. Where several names of a subscription have one, the first one's counts.
    static func contracts(
        _ rows: PostgresRows, of names: [SubscriptionName]
    ) throws -> [SubscriptionName: CheckedSubscription.Contract] {
        var contracts: [SubscriptionName: CheckedSubscription.Contract] = [:]
        for row in rows {
            contracts[names[try row.get(0, as: Int.self) - 1]] = .init(
                id: try row.billingID(1, "contract"), customer: try row.billingID(2, "customer"))
        }
        return contracts
    }

    /// Those of the bundle ids that are known to be other publishers' apps.
    static func foreign(_ bundleIDs: [BundleID], to publisher: PublisherID) -> PostgresQuery {
        PostgresQuery(foreignSQL, [.textArray(bundleIDs), .text(publisher)])
    }
}
