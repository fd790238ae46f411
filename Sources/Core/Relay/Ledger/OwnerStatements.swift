import Postgres
import RelayCore

/// Statements that insert, lock and change a subscription's row, which names its owner.
enum OwnerStatements {
    /// Columns that a validation copies to the subscription when its customer becomes the owner. Both tables have them.
    private static let brought = [
        "customer", "email", "application_username", "app", "offer_id", "accepted_on", "id", "sealed_by",
    ]

    static let columns = SQL(unescaped: brought.joined(separator: ", "))

    /// ``columns`` of a row with this name.
    static func columns(of row: String) -> SQL {
        SQL(unescaped: brought.map { "\(row).\($0)" }.joined(separator: ", "))
    }

    /// Assignments of ``columns`` from a row with this name.
    static func setting(from row: String) -> SQL {
        SQL(unescaped: brought.map { "\($0) = \(row).\($0)" }.joined(separator: ", "))
    }
}

/// How a settlement uses ``Ownership``:
///
///     open     inserts the subscription's row, or locks and reads the existing one
///     decide   decides by the facts that were read
///     write    changes owners, and inserts a subscription for each grant that has its own
extension Ownership {
    /// Inserts the rows of subscriptions without one; locks and reads the existing ones. Must follow the statement that
    /// locks the pursuits, in the same transaction: it relies on the checks of ``PurchaseStore/ours(_:)``.
    ///
    /// An owner is unsettled for as long as an app waits for its grant. Until then Cleeng may still be moving the
    /// subscription to an older request and then on to the owner's. A customer who is read in between is entitled only
    /// for that moment. Indexes used: primary keys, `pursuits_subscription`.
    static func open(_ grants: [PursuitWrite]) -> SQL {
        let ids = grants.map(\.claimed.id)
        let rows: SQLTable = [
            "expires_at": .timestamptzArray(grants.map { $0.change?.expiresAt?.postgres }),
            "fence": .int4Array(grants.map(\.claimed.fence)),
        ]
        /// NULL for an owner whose row is inserted here.
        func ifOwned(_ query: SQL) -> SQL {
            "CASE WHEN s.id <> ALL (\(.uuidArray(ids.map(\.uuid)))) THEN (\(query)) END"
        }
        /// Column of the validation that made the customer the owner.
        func ofOwner(_ column: SQL) -> SQL {
            ifOwned(
                """
                SELECT \(column) FROM validations o
                WHERE o.bucket = coalesce(s.validation_bucket, s.bucket) AND o.accepted_on = s.accepted_on AND o.id = s.id
                """)
        }
        let newestWaiting: SQL = """
            SELECT max(w.accepted_at) FROM pursuits w
            WHERE \(.sameSubscription("w", "s")) AND w.phase <> \(Pursuit.Phase.parked) AND w.deadline > now()
            """
        return """
            INSERT INTO subscriptions AS s (
                bucket, publisher, environment, subscription_key, product_id, accepted_at, owned_since, expires_at,
                \(OwnerStatements.columns))
            SELECT DISTINCT ON (v.bucket, v.publisher, v.environment, v.subscription_key)
                   v.bucket, v.publisher, v.environment, v.subscription_key, v.product_id, v.accepted_at, clock_timestamp(),
                   i.expires_at, \(OwnerStatements.columns(of: "v"))
            FROM \(SQLTable.ids(ids) + rows, as: "i")
            CROSS JOIN LATERAL (
                SELECT p.fence, p.owner, p.due_at FROM pursuits p WHERE p.bucket = i.bucket AND p.id = i.id OFFSET 0) AS p
            CROSS JOIN LATERAL (SELECT * FROM validations v WHERE \(.sameID("v", "i")) OFFSET 0) AS v
            WHERE p.fence = i.fence AND p.owner IS NOT NULL AND p.due_at > now()
            ORDER BY v.bucket, v.publisher, v.environment, v.subscription_key, v.accepted_at DESC, v.id DESC
            -- Locks the row and changes nothing.
            ON CONFLICT (bucket, publisher, environment, subscription_key) DO UPDATE SET bucket = s.bucket
            RETURNING s.publisher, s.environment, s.subscription_key, s.owner_no, ROW(s.sealed_by, s.customer) AS customer,
                      ROW(s.sealed_by, s.email) AS email, ROW(s.sealed_by, s.application_username) AS username, s.offer_id, s.accepted_at,
                      coalesce(s.validation_bucket, s.bucket) AS bucket, s.accepted_on - DATE 'epoch' AS day, s.id,
                      s.owned_since, \(ofOwner("o.settled_at")) AS settled_at,
                      \(ofOwner("(1000000 * extract(epoch FROM o.deadline - o.accepted_at))::int8")) AS waited,
                      \(ifOwned(newestWaiting)) AS newest_waiting
            """
    }
}

extension Ownership {
    /// Reads the answer to ``open(_:)``.
    ///
    /// - Parameter ids: validations of the grants under valid leases.
    static func subscriptions(
        _ rows: PostgresRows, of ids: Set<ValidationID>
    ) throws -> [SubscriptionName: Subscription] {
        var subscriptions: [SubscriptionName: Subscription] = [:]
        for row in rows { subscriptions[try row.subscriptionName()] = try Subscription(row, of: ids) }
        return subscriptions
    }
}

extension Ownership.Grant {
    /// - Parameter change: the write's change, which is a grant.
    init(_ write: PursuitWrite, _ change: Decision.Change, username: Username, bundleID: BundleID?) {
        let claimed = write.claimed
        self.init(
            id: claimed.id, name: claimed.name, customer: claimed.customer, email: claimed.email, username: username,
            offerID: claimed.offerID, acceptedAt: claimed.pursuit.acceptedAt, deadline: claimed.pursuit.deadline,
            change: change, entitledBefore: write.pursuit.entitledBefore, ownerReading: write.ownerReading,
            progress: write.progress, bundleID: bundleID, trace: claimed.trace)
    }
}

extension Ownership.Subscription {
    /// Reads the answer to ``Ownership/open(_:)``.
    ///
    /// - Parameter ids: validations of the grants under valid leases.
    fileprivate init(_ row: PostgresRow, of ids: Set<ValidationID>) throws {
        self.init(owner: nil, username: try row.open("username"), ownerNo: try row.get("owner_no"))
        // A subscription that is known by a username alone has no owner.
        guard let customer = try row.open("customer", as: CustomerID?.self) else { return }
        let validation = try row.validationID()
        let owned = try row.timestamp("owned_since")
        let since = try max(owned, row.timestampIfSet("settled_at") ?? owned)
        let waited: Int64? = try row.get("waited")
        owner = Ownership.Owner(
            customer: customer, email: try row.open("email"), offerID: try row.get("offer_id"), validation: validation,
            claim: OwnershipClaim.Owner(
                acceptedAt: try row.timestamp("accepted_at"), since: since,
                unsettledUntil: since + .microseconds(waited ?? 0),
                newestWaiting: try row.timestampIfSet("newest_waiting")))
        insertedBy = ids.contains(validation) ? validation : nil
    }
}

extension Ownership {
    /// Writes the new owners, and inserts a subscription for each grant that has its own. Rows are in key order, the
    /// order in which every transaction locks them.
    var queries: [SQL] {
        (newOwners.isEmpty ? [] : [Self.take(newOwners.sorted { $0.name.order < $1.name.order })])
            + (alone.isEmpty ? [] : [Self.own(alone.sorted { $0.name.order < $1.name.order })])
    }

    private static func table(_ newOwners: [NewOwner]) -> SQLTable {
        let rows: SQLTable = [
            "expires_at": .timestamptzArray(newOwners.map { $0.expiresAt?.postgres }),
            "subscription_bucket": .int2Array(newOwners.map { Int16($0.name.bucket.number) }),
            "owner_no": .int4Array(newOwners.map(\.ownerNo)), "publisher": .textArray(newOwners.map(\.name.publisher)),
            "environment": .textArray(newOwners.map(\.name.environment)),
            "subscription_key": .textArray(newOwners.map(\.name.originalTransactionID)),
        ]
        return SQLTable.ids(newOwners.map(\.id)) + rows
    }

    /// At most one new owner for each subscription. Indexes used: the primary keys. The validations are read in a separate
    /// first step. In a join with the subscriptions, the plan would look them up by the bucket that both have.
    static func take(_ newOwners: [NewOwner]) -> SQL {
        """
        WITH taken AS MATERIALIZED (
            SELECT \(OwnerStatements.columns(of: "v")), v.product_id, v.accepted_at, v.bucket AS validation_bucket,
                   i.publisher, i.environment, i.subscription_key, i.expires_at, i.owner_no, i.subscription_bucket AS bucket
            FROM \(table(newOwners), as: "i")
            CROSS JOIN LATERAL (SELECT * FROM validations v WHERE \(.sameID("v", "i")) OFFSET 0) AS v
        )
        UPDATE subscriptions s
        SET \(OwnerStatements.setting(from: "v")), product_id = v.product_id,
            accepted_at = greatest(s.accepted_at, v.accepted_at), validation_bucket = nullif(v.validation_bucket, s.bucket),
            owned_since = CASE WHEN s.owner_no = v.owner_no AND s.id IS NOT NULL THEN s.owned_since ELSE clock_timestamp() END,
            expires_at = v.expires_at, owner_no = v.owner_no
        FROM taken AS v
        WHERE \(.sameSubscription("s", "v"))
        """
    }

    /// Inserts a separate subscription for a customer who has the offer through another purchase.
    private static func own(_ newOwners: [NewOwner]) -> SQL {
        """
        INSERT INTO subscriptions AS s (
            bucket, publisher, environment, subscription_key, accepted_at, owned_since, expires_at, \(OwnerStatements.columns))
        SELECT v.bucket, i.publisher, i.environment, i.subscription_key, v.accepted_at, clock_timestamp(), i.expires_at,
               \(OwnerStatements.columns(of: "v"))
        FROM \(table(newOwners), as: "i")
        CROSS JOIN LATERAL (SELECT * FROM validations v WHERE \(.sameID("v", "i")) OFFSET 0) AS v
        ON CONFLICT (bucket, publisher, environment, subscription_key) DO UPDATE SET expires_at = excluded.expires_at
        """
    }
}
