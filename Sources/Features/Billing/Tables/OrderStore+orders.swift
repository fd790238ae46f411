import Postgres
import Relay
import RelayCore

struct BillingOrder: Sendable, Equatable {
    var id: BillingID
    var customer: BillingID
    /// A contract with this id exists once the order is completed, or if it is an upgrade.
    var contract: BillingID
    var externalSubscription: BillingID
    var type: OrderType
    var state: OrderState
    var createdAt: Timestamp
    var completedAt: Timestamp?
    var platform: StorePlatform
    /// The store's product id; nil if unknown.
    var productID: ProductID?
    var isTrial: Bool
}

extension BillingOrder {
    /// Orders with the last check of their subscriptions.
    ///
    /// - Parameter condition: condition on `orders o`, with order and limit.
    fileprivate static func select(_ condition: SQL) -> SQL {
        """
        SELECT o.id, o.customer, o.contract, o.external_subscription, o.type, o.state, o.created_at, o.completed_at,
               e.platform, e.product_id, e.is_trial
        FROM orders o
        JOIN external_subscriptions e ON e.bucket = \(bucket(ofID: "o.external_subscription"))
             AND e.id = o.external_subscription
        WHERE \(condition)
        """
    }

    fileprivate init(_ row: PostgresRow) throws {
        self.init(
            id: try row.billingID("id"), customer: try row.billingID("customer"),
            contract: try row.billingID("contract"),
            externalSubscription: try row.billingID("external_subscription"), type: try row.constant("type"),
            state: try row.constant("state"), createdAt: try row.timestamp("created_at"),
            completedAt: try row.timestampIfSet("completed_at"), platform: try row.platform(),
            productID: try row.get("product_id"), isTrial: try row.get("is_trial"))
    }

    /// The last byte of an id, like ``BillingID/bucket``.
    fileprivate static func bucket(ofID id: SQL) -> SQL { "get_byte(decode(\(id), 'hex'), 11)" }
}

/// An order before it is written.
struct NewOrder: Sendable {
    enum Party: Sendable {
        case customer(BillingID)
        /// Details from the publisher: a JSON object.
        case newCustomer(details: String)
        case contract(BillingID)
    }

    var publisher: PublisherID
    var externalSubscription: BillingID
    var party: Party
}

/// Result of a ``NewOrder``.
enum OrderOutcome: Sendable, Equatable {
    case created(BillingOrder)
    case unknownSubscription
    case unknownCustomer
    case unknownContract
    /// The subscription already has a contract.
    case conflict
    /// The contract is for subscriptions of another store.
    case otherPlatform(StorePlatform)
}

extension OrderStore {
    /// Writes an order. Its subscription and contract are unchanged until the commit.
    func add(_ order: NewOrder) async throws -> OrderOutcome {
        // Index used: the primary key.
        let subject = try await database.query(
            """
            SELECT e.publisher, e.environment, e.subscription_key, e.bundle_id, e.word, e.platform
            FROM external_subscriptions e
            WHERE (e.bucket, e.id) = (\(order.externalSubscription.key)) AND e.publisher = \(.text(order.publisher))
            """
        ).first
        guard let subject else { return .unknownSubscription }
        let stated = try subject.checkedStatement()
        let name = try subject.subscriptionName()
        let names = try await SubscriptionHistory.names(of: [name] + (stated?.movesFrom.map(name.under) ?? [])) {
            try await database.query($0)
        }
        guard try await contracts(of: names).isEmpty else { return .conflict }
        guard try await foreign([try subject.get("bundle_id")], to: order.publisher).isEmpty else {
            return .unknownSubscription
        }
        let platform = try subject.platform()
        var queries: [SQL] = []
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
            let found = try await database.query(
                """
                SELECT c.platform, c.customer FROM contracts c
                WHERE (c.bucket, c.id) = (\(id.key)) AND c.publisher = \(.text(order.publisher))
                """)
            guard let row = found.first else { return .unknownContract }
            let present = try row.platform()
            guard present == platform else { return .otherPlatform(present) }
            customer = try row.billingID("customer")
            contract = id
            type = .upgrade
        }
        let id = newBillingID()
        // Writes nothing if the subscription was removed. Updating `checked_at` keeps the subscription as long as its
        // orders.
        queries.append(
            """
            WITH ordered AS (
                UPDATE external_subscriptions e SET checked_at = clock_timestamp()
                WHERE (e.bucket, e.id) = (\(order.externalSubscription.key))
                RETURNING e.checked_at
            )
            INSERT INTO orders (
                bucket, id, publisher, customer, contract, external_subscription, type, state, created_at)
            SELECT \(id.key), \(.text(order.publisher)), \(.billingID(customer)), \(.billingID(contract)),
                   \(.billingID(order.externalSubscription)), \(type), \(OrderState.inProgress), ordered.checked_at
            FROM ordered
            """)
        queries.append(Self.one(id, publisher: order.publisher))
        let writes = queries
        let answers = try await database.withTransaction { try await $0.commit(with: writes) }
        guard let row = answers.last?.first else { return .unknownSubscription }
        return .created(try BillingOrder(row))
    }

    /// Index used: the primary key.
    private static func one(_ id: BillingID, publisher: PublisherID) -> SQL {
        BillingOrder.select("(o.bucket, o.id) = (\(id.key)) AND o.publisher = \(.text(publisher))")
    }

    /// Nil if this publisher has no such order.
    func order(_ id: BillingID, publisher: PublisherID) async throws -> BillingOrder? {
        try await database.query(Self.one(id, publisher: publisher)).first.map(BillingOrder.init)
    }

    /// Index used: `orders_written`.
    func list(of publisher: PublisherID, _ page: BillingPage) async throws -> [BillingOrder] {
        try await database.query(BillingOrder.select(page.rows(of: publisher, in: "orders", as: "o")))
            .map(BillingOrder.init)
    }

    /// A publisher's orders for operators, newest first. Empty outside the scope. Index used: `orders_written`,
    /// backwards.
    ///
    /// - Parameter after: the last order of the previous page.
    func newest(
        of publisher: PublisherID, after: BillingID? = nil, limit: Int = 50, in scope: OpsScope
    ) async throws -> (items: [BillingOrder], next: BillingID?) {
        guard scope.contains(publisher) else { return ([], nil) }
        let from: SQL = "\(.billingID(after))"
        let rows = try await database.query(
            BillingOrder.select(
                """
                o.publisher = \(.text(publisher))
                  AND (\(from) IS NULL OR (o.created_at, o.id) < (
                        SELECT l.created_at, l.id FROM orders l
                        WHERE l.bucket = \(BillingOrder.bucket(ofID: from)) AND l.id = \(from)
                          AND l.publisher = \(.text(publisher))))
                ORDER BY o.created_at DESC, o.id DESC
                LIMIT \(.int4(Int32(clamping: limit + 1)))
                """))
        let page = try rows.prefix(limit).map(BillingOrder.init)
        return (page, rows.count > limit ? page.last?.id : nil)
    }
}
