import Postgres
public import RelayCore

extension RelayStore {
    private static let insertSQL = """
        INSERT INTO billing_customers (bucket, id, publisher, created_at, details, sealed_by)
        VALUES ($1, $2, $3, clock_timestamp(), $4, $5)
        RETURNING id, created_at, ROW(sealed_by, details)
        """

    /// Index used: the primary key.
    private static let oneSQL = """
        SELECT c.id, c.created_at, ROW(c.sealed_by, c.details) FROM billing_customers c
        WHERE c.bucket = $1 AND c.id = $2 AND c.publisher = $3
        """

    /// Index used: `billing_customers_written`.
    private static let listSQL = """
        SELECT c.id, c.created_at, ROW(c.sealed_by, c.details) FROM billing_customers c
        WHERE c.publisher = $1 AND \(BillingPage.after("billing_customers", "c"))
        """

    /// - Parameter details: a JSON object.
    static func newCustomer(_ id: BillingID, publisher: PublisherID, details: String) -> PostgresQuery {
        PostgresQuery(insertSQL, id.key + [.text(publisher), .privateText(details), .keyOfTexts])
    }

    /// - Parameter details: a JSON object.
    public func addBillingCustomer(details: String, publisher: PublisherID) async throws -> BillingCustomer {
        let id = newBillingID()
        let rows = try await pool.query(Self.newCustomer(id, publisher: publisher, details: details))
        guard let row = rows.first else { throw StoreError.unreadable(column: "id") }
        return try Self.billingCustomer(row)
    }

    /// Nil where this publisher has none by that id.
    public func billingCustomer(_ id: BillingID, publisher: PublisherID) async throws -> BillingCustomer? {
        try await pool.query(PostgresQuery(Self.oneSQL, id.key + [.text(publisher)])).first.map(Self.billingCustomer)
    }

    public func billingCustomers(of publisher: PublisherID, _ page: BillingPage) async throws -> [BillingCustomer] {
        try await pool.query(PostgresQuery(Self.listSQL, page.parameters(of: publisher))).map(Self.billingCustomer)
    }

    private static func billingCustomer(_ row: PostgresRow) throws -> BillingCustomer {
        BillingCustomer(
            id: try row.billingID(0, "id"), createdAt: try row.timestamp(1), details: try row.open(2))
    }
}
