import Postgres
public import RelayCore

extension RelayStore {
    /// What an order would be of. Index used: the primary key.
    private static let subjectSQL = """
        SELECT e.environment, e.subscription_key, e.bundle_id, e.word, e.platform
        FROM external_subscriptions e
        WHERE e.bucket = $1 AND e.id = $2 AND e.publisher = $3
        """

    private static let contractSQL = """
        SELECT c.platform, c.customer FROM contracts c WHERE c.bucket = $1 AND c.id = $2 AND c.publisher = $3
        """

    /// Of a subscription that is still kept: it is not thrown away before its orders are.
    private static let insertSQL = """
        WITH ordered AS (
            UPDATE external_subscriptions e SET checked_at = clock_timestamp()
            WHERE e.bucket = $8 AND e.id = $6
            RETURNING e.checked_at
        )
        INSERT INTO orders (
            bucket, id, publisher, customer, contract, external_subscription, type, state, created_at)
        SELECT $1, $2, $3, $4, $5, $6, $7, 1, ordered.checked_at FROM ordered
        """

    /// With what was checked of its subscription.
    private static func select(_ condition: String) -> String {
        """
        SELECT o.id, o.customer, o.contract, o.external_subscription, o.type, o.state, o.created_at, o.completed_at,
               e.platform, e.product_id, e.is_trial
        FROM orders o
        JOIN external_subscriptions e ON e.bucket = \(subscriptionBucket) AND e.id = o.external_subscription
        \(condition)
        """
    }

    /// The last byte of the id, as ``RelayCore/BillingID/bucket`` says it.
    private static let subscriptionBucket = "get_byte(decode(o.external_subscription, 'hex'), 11)"

    /// Index used: the primary key.
    private static let oneSQL = select("WHERE o.bucket = $1 AND o.id = $2 AND o.publisher = $3")

    /// Index used: `orders_written`.
    private static let listSQL = select("WHERE o.publisher = $1 AND \(BillingPage.after("orders", "o"))")

    /// Index used: `orders_written`, backwards.
    private static let newestSQL = select(
        """
        WHERE o.publisher = $2
          AND ($3::text IS NULL OR (o.created_at, o.id) < (
                SELECT l.created_at, l.id FROM orders l
                WHERE l.bucket = get_byte(decode($3, 'hex'), 11) AND l.id = $3 AND l.publisher = $2))
        ORDER BY o.created_at DESC, o.id DESC
        LIMIT $1
        """)

    /// Takes an order in. What it is for stands as it is until the commit.
    public func add(_ order: NewOrder) async throws -> OrderOutcome {
        let subject = try await pool.query(
            PostgresQuery(Self.subjectSQL, order.externalSubscription.key + [.text(order.publisher)])
        ).first
        guard let subject else { return .unknownSubscription }
        let name = SubscriptionName(
            publisher: order.publisher, environment: try subject.get(0), originalTransactionID: try subject.get(1))
        let told = try subject.get(3, as: String?.self).map {
            try LedgerJSON.value(LedgerWord.self, $0, column: "external_subscriptions.word")
        }
        let names = try await SubscriptionTrail.read([name]) { try await pool.query($0) }.flatMap {
            $0.names(and: $0.hasMoved ? [] : told?.movesFrom ?? [])
        }
        guard try await contracts(of: names).isEmpty else { return .conflict }
        let app = try subject.get(2, as: BundleID?.self)
        guard try await foreign([app], to: order.publisher).isEmpty else { return .unknownSubscription }
        let platform = try subject.platform(4)
        var queries: [PostgresQuery] = []
        let customer: BillingID
        var contract = newBillingID()
        var type = OrderType.signup
        switch order.party {
        case .customer(let id):
            guard try await billingCustomer(id, publisher: order.publisher) != nil else { return .unknownCustomer }
            customer = id
        case .newCustomer(let details):
            customer = newBillingID()
            queries.append(Self.newCustomer(customer, publisher: order.publisher, details: details))
        case .contract(let id):
            let query = PostgresQuery(Self.contractSQL, id.key + [.text(order.publisher)])
            guard let row = try await pool.query(query).first else { return .unknownContract }
            let present = try row.platform(0)
            guard present == platform else { return .otherPlatform(present) }
            customer = try row.billingID(1, "customer")
            contract = id
            type = .upgrade
        }
        let id = newBillingID()
        queries.append(
            PostgresQuery(
                Self.insertSQL,
                id.key + [
                    .text(order.publisher), .text(customer.description), .text(contract.description),
                    .text(order.externalSubscription.description), .int2(type.rawValue),
                    .int2(Int16(order.externalSubscription.bucket.number)),
                ]))
        queries.append(PostgresQuery(Self.oneSQL, id.key + [.text(order.publisher)]))
        let writes = queries
        let answers = try await pool.withTransaction { try await $0.commit(with: writes) }
        guard let row = answers.last?.first else { return .unknownSubscription }
        return .created(try Self.order(row))
    }

    /// Nil where this publisher has none by that id.
    public func order(_ id: BillingID, publisher: PublisherID) async throws -> BillingOrder? {
        try await pool.query(PostgresQuery(Self.oneSQL, id.key + [.text(publisher)])).first.map(Self.order)
    }

    public func orders(of publisher: PublisherID, _ page: BillingPage) async throws -> [BillingOrder] {
        try await pool.query(PostgresQuery(Self.listSQL, page.parameters(of: publisher))).map(Self.order)
    }

    /// For ops: newest first. None of a publisher outside the scope.
    ///
    /// - Parameter after: the last one of the page before.
    public func newestOrders(
        of publisher: PublisherID, after: BillingID? = nil, limit: Int = 50, in scope: OpsScope
    ) async throws -> (items: [BillingOrder], next: BillingID?) {
        guard scope.contains(publisher) else { return ([], nil) }
        let rows = try await pool.query(
            PostgresQuery(
                Self.newestSQL, [.int4(Int32(clamping: limit + 1)), .text(publisher), .text(after?.description)]))
        let page = try rows.prefix(limit).map(Self.order)
        return (page, rows.count > limit ? page.last?.id : nil)
    }

    private static func order(_ row: PostgresRow) throws -> BillingOrder {
        let (type, state) = (try row.get(4, as: Int16.self), try row.get(5, as: Int16.self))
        guard let type = OrderType(rawValue: type) else {
            throw StoreError.unknownNumber(column: "type", number: Int(type))
        }
        guard let state = OrderState(rawValue: state) else {
            throw StoreError.unknownNumber(column: "state", number: Int(state))
        }
        return BillingOrder(
            id: try row.billingID(0, "id"), customer: try row.billingID(1, "customer"),
            contract: try row.billingID(2, "contract"),
            externalSubscription: try row.billingID(3, "external_subscription"), type: type, state: state,
            createdAt: try row.timestamp(6), completedAt: try row.timestampIfSet(7), platform: try row.platform(8),
            productID: try row.get(9), isTrial: try row.get(10))
    }
}
