import Postgres
public import RelayCore

/// A publisher, with counts of its rows.
public struct Publisher: Sendable {
    public var id: PublisherID
    public var createdAt: Timestamp
    /// Keys that are not revoked.
    public var keys: Int
    public var offers: Int
    /// Webhook endpoints.
    public var endpoints: Int
    /// Whether it has its own account at Cleeng.
    public var hasOwnAccount: Bool
}

extension PublisherStore {
    /// False if the publisher already exists.
    public func add(_ id: PublisherID) async throws -> Bool {
        let insert: SQL = "INSERT INTO publishers (id) VALUES (\(.text(id))) ON CONFLICT DO NOTHING"
        return try await database.query(insert).affectedRows == 1
    }

    public func list(in scope: OpsScope) async throws -> [Publisher] {
        try await database.query(
            """
            SELECT p.id, p.created_at,
                   (SELECT count(*) FROM api_keys k WHERE k.publisher = p.id AND k.revoked_at IS NULL) AS keys,
                   (SELECT count(*) FROM offers o WHERE o.publisher = p.id) AS offers,
                   (SELECT count(*) FROM webhook_endpoints e
                    WHERE e.publisher = p.id AND e.removed_at IS NULL) AS endpoints,
                   EXISTS (SELECT FROM own_accounts a WHERE a.publisher = p.id) AS has_own_account
            FROM publishers p
            WHERE \(scope.includes("p.id"))
            ORDER BY p.created_at, p.id
            LIMIT 10000
            """
        ).map { row in
            Publisher(
                id: try row.get("id"), createdAt: try row.timestamp("created_at"), keys: try row.get("keys"),
                offers: try row.get("offers"), endpoints: try row.get("endpoints"),
                hasOwnAccount: try row.get("has_own_account"))
        }
    }

    /// Ids of all publishers, including the first one, which may have notifications before it has a key.
    public func ids() async throws -> Set<PublisherID> {
        let rows = try await database.query("SELECT id FROM publishers")
        return Set(try rows.map { try $0.get(0) }).union([PublisherID.first])
    }

    /// Publishers whose rows the scope includes.
    public func ids(in scope: OpsScope) async throws -> Set<PublisherID> {
        if let publisher = scope.publisher { return [publisher] }
        return try await ids()
    }

    /// Buckets of each publisher's rows for this subscription key.
    func buckets<Kind>(of key: Identifier<Kind>, _ publishers: Set<PublisherID>) -> PostgresValue {
        .int2Array(Set(publishers.map { Int16(Bucket(of: $0, key).number) }).sorted())
    }
}
