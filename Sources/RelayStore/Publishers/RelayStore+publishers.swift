import Postgres
public import RelayCore

/// A publisher, and how much of what belongs to it.
public struct Publisher: Sendable {
    public var id: PublisherID
    public var createdAt: Timestamp
    /// That are not revoked.
    public var keys: Int
    public var offers: Int
    /// Of webhooks.
    public var endpoints: Int
    /// At Cleeng.
    public var hasOwnAccount: Bool
}

extension RelayStore {
    private static let addSQL = "INSERT INTO publishers (id) VALUES ($1) ON CONFLICT DO NOTHING"

    private static let listSQL = """
        SELECT p.id, p.created_at,
               (SELECT count(*) FROM api_keys k WHERE k.publisher = p.id AND k.revoked_at IS NULL),
               (SELECT count(*) FROM offers o WHERE o.publisher = p.id),
               (SELECT count(*) FROM webhook_endpoints e WHERE e.publisher = p.id AND e.removed_at IS NULL),
               EXISTS (SELECT FROM own_accounts a WHERE a.publisher = p.id)
        FROM publishers p
        WHERE \(OpsScope.sql("p.id", 1))
        ORDER BY p.created_at, p.id
        LIMIT 10000
        """

    /// False for one that is there already.
    public func addPublisher(_ id: PublisherID) async throws -> Bool {
        try await pool.query(PostgresQuery(Self.addSQL, [.text(id)])).affectedRows == 1
    }

    public func listPublishers(in scope: OpsScope) async throws -> [Publisher] {
        try await pool.query(PostgresQuery(Self.listSQL, [scope.parameter])).map { row in
            Publisher(
                id: try row.get(0), createdAt: try row.timestamp(1), keys: try row.get(2), offers: try row.get(3),
                endpoints: try row.get(4), hasOwnAccount: try row.get(5))
        }
    }
}
