import Postgres
public import RelayCore

extension RelayStore {
    /// A page of contracts, each with its subscriptions and their ledgers. Indexes used: what the page says, then
    /// `contract_subscriptions_contract` and the primary key of the ledgers.
    private static func select(_ page: String) -> String {
        """
        WITH page AS MATERIALIZED (SELECT c.id, c.customer, c.platform, c.created_at FROM contracts c \(page))
        SELECT c.id, c.customer, c.platform, c.created_at, s.external_subscription, s.publisher, s.environment,
               s.subscription_key, l.status, clock_timestamp(), l.subscription_key IS NOT NULL, \(StoredLedger.columns)
        FROM page c
        JOIN contract_subscriptions s ON s.contract = c.id
        LEFT JOIN ledgers l ON l.bucket = s.ledger_bucket AND l.publisher = s.publisher
             AND l.environment = s.environment AND l.subscription_key = s.subscription_key
        ORDER BY c.created_at, c.id, s.added_at, s.external_subscription
        """
    }

    /// Index used: the primary key.
    private static let oneSQL = select("WHERE c.bucket = $1 AND c.id = $2 AND c.publisher = $3")

    /// Index used: `contracts_written`.
    private static let listSQL = select("WHERE c.publisher = $1 AND \(BillingPage.after("contracts", "c"))")

    /// Index used: `contracts_customer_written`.
    private static let ofCustomerSQL = select(
        "WHERE c.customer = $6 AND c.publisher = $1 AND \(BillingPage.after("contracts", "c"))")

    /// Nil where this publisher has none by that id.
    ///
    /// - Parameter leeway: how long after its end a subscription that will renew is waited for.
    public func contract(_ id: BillingID, publisher: PublisherID, leeway: Duration) async throws -> BillingContract? {
        try Self.contracts(
            try await pool.query(PostgresQuery(Self.oneSQL, id.key + [.text(publisher)])), leeway: leeway
        ).first
    }

    /// - Parameter customer: nil: everybody's.
    public func contracts(
        of publisher: PublisherID, customer: BillingID? = nil, _ page: BillingPage, leeway: Duration
    ) async throws -> [BillingContract] {
        let parameters = page.parameters(of: publisher)
        let query =
            customer.map { PostgresQuery(Self.ofCustomerSQL, parameters + [.text($0.description)]) }
            ?? PostgresQuery(Self.listSQL, parameters)
        return try Self.contracts(try await pool.query(query), leeway: leeway)
    }

    private static func contracts(_ rows: PostgresRows, leeway: Duration) throws -> [BillingContract] {
        var contracts: [BillingContract] = []
        var parts: [ContractStanding.Part] = []
        var now = Timestamp(microseconds: 0)
        func finish() {
            guard let last = contracts.indices.last else { return }
            contracts[last].standing = ContractStanding(parts, at: now, leeway: leeway)
            parts = []
        }
        for row in rows {
            let id = try row.billingID(0, "id")
            if contracts.last?.id != id {
                finish()
                contracts.append(
                    BillingContract(
                        id: id, customer: try row.billingID(1, "customer"), platform: try row.platform(2),
                        createdAt: try row.timestamp(3), externalSubscriptions: [],
                        standing: ContractStanding([], at: now, leeway: leeway)))
            }
            now = try row.timestamp(9)
            contracts[contracts.count - 1].externalSubscriptions.append(try row.billingID(4, "external_subscription"))
            guard try row.get(10, as: Bool.self) else { continue }
            parts.append(
                .init(
                    name: SubscriptionName(
                        publisher: try row.get(5), environment: try row.get(6), originalTransactionID: try row.get(7)),
                    ledger: try StoredLedger.read(row),
                    shown: try row.get(8, as: Int16?.self).flatMap(SubscriptionStanding.Status.init)))
        }
        finish()
        return contracts
    }
}
