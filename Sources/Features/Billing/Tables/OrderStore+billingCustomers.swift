import Postgres
import Relay
import RelayCore

/// A customer with whom a publisher makes contracts.
struct BillingCustomer: Sendable, Equatable {
    var id: BillingID
    var createdAt: Timestamp
    /// Details from the publisher: a JSON object.
    var details: Private<String>
}

extension BillingCustomer {
    fileprivate static let columns: SQL = "c.id, c.created_at, ROW(c.sealed_by, c.details) AS details"

    fileprivate init(_ row: PostgresRow) throws {
        self.init(
            id: try row.billingID("id"), createdAt: try row.timestamp("created_at"), details: try row.open("details"))
    }
}

extension OrderStore {
    /// - Parameter details: a JSON object.
    static func newCustomer(_ id: BillingID, publisher: PublisherID, details: String) -> SQL {
        """
        INSERT INTO billing_customers AS c (bucket, id, publisher, created_at, details, sealed_by)
        VALUES (\(id.key), \(.text(publisher)), clock_timestamp(), \(.privateText(details)), \(.keyOfTexts))
        RETURNING \(BillingCustomer.columns)
        """
    }

    /// - Parameter details: a JSON object.
    func addBillingCustomer(details: String, publisher: PublisherID) async throws -> BillingCustomer {
        let rows = try await database.query(Self.newCustomer(newBillingID(), publisher: publisher, details: details))
        guard let row = rows.first else { throw StoreError.unreadable(column: "id") }
        return try BillingCustomer(row)
    }

    /// Nil if this publisher has no such customer. Index used: the primary key.
    func billingCustomer(_ id: BillingID, publisher: PublisherID) async throws -> BillingCustomer? {
        try await database.query(
            """
            SELECT \(BillingCustomer.columns) FROM billing_customers c
            WHERE (c.bucket, c.id) = (\(id.key)) AND c.publisher = \(.text(publisher))
            """
        ).first.map(BillingCustomer.init)
    }

    /// Index used: `billing_customers_written`.
    func billingCustomers(of publisher: PublisherID, _ page: BillingPage) async throws -> [BillingCustomer] {
        try await database.query(
            """
            SELECT \(BillingCustomer.columns) FROM billing_customers c
            WHERE \(page.rows(of: publisher, in: "billing_customers", as: "c"))
            """
        ).map(BillingCustomer.init)
    }
}
