import Postgres
public import RelayCore

extension KeyStore {
    static let keyColumns: SQL = """
        k.id, k.publisher, k.role, k.app, k.name, k.digest, k.created_at, k.revoked_at, k.token_digest, k.all_publishers
        """

    /// A key of all publishers is none of a single one's.
    private static func isIn(_ scope: OpsScope) -> SQL {
        "(\(.text(scope.publisher)) IS NULL OR k.publisher = \(.text(scope.publisher)) AND NOT k.all_publishers)"
    }

    private static func list(includingRevoked: Bool, in scope: OpsScope) -> SQL {
        """
        SELECT \(keyColumns)
        FROM api_keys k
        WHERE (\(.bool(includingRevoked)) OR k.revoked_at IS NULL) AND \(isIn(scope))
        ORDER BY k.created_at, k.id
        LIMIT 10000
        """
    }

    /// Makes a key, and its publisher where new.
    ///
    /// - Parameter seesAllPublishers: of an ops key alone: it is held to no publisher.
    /// - Returns: the key itself: nobody can read it a second time.
    public func create(
        role: KeyRole, name: String, publisher: PublisherID, app: BundleID, seesAllPublishers: Bool = false,
        using generator: inout some RandomNumberGenerator
    ) async throws -> String {
        let (id, key) = APIKey.make(role: role, using: &generator)
        try await database.withTransaction { transaction in
            _ = try await transaction.commit(with: [
                "INSERT INTO publishers (id) VALUES (\(.text(publisher))) ON CONFLICT DO NOTHING",
                """
                INSERT INTO api_keys (id, publisher, role, app, name, digest, all_publishers)
                VALUES (\(.text(id)), \(.text(publisher)), \(role), \(.text(app)), \(.text(name)),
                        \(.bytea(APIKey.digest(of: key))), \(.bool(seesAllPublishers)))
                """,
            ])
        }
        return key
    }

    public func list(includingRevoked: Bool, in scope: OpsScope) async throws -> [APIKey] {
        try await database.query(Self.list(includingRevoked: includingRevoked, in: scope)).map { try Self.key($0) }
    }

    /// Those that open something. One that this version cannot make sense of opens nothing, and keeps no other from it.
    func usable() async throws -> [APIKey] {
        try await database.query(Self.list(includingRevoked: false, in: .all)).compactMap { try? Self.key($0) }
    }

    /// Of a row with ``keyColumns``.
    static func key(_ row: PostgresRow) throws -> APIKey {
        APIKey(
            id: try row.get("id"), publisher: try row.get("publisher"),
            seesAllPublishers: try row.get("all_publishers"),
            role: try row.constant("role"), app: try row.get("app"), name: try row.get("name"),
            digest: try row.get("digest"), tokenDigest: try row.get("token_digest"),
            createdAt: try row.timestamp("created_at"), revokedAt: try row.timestampIfSet("revoked_at"))
    }

    /// A running copy forgets a revoked key within two seconds.
    ///
    /// - Returns: whose it was; nil where it was revoked already, or there is none in the scope.
    public func revoke(_ id: APIKeyID, in scope: OpsScope) async throws -> PublisherID? {
        try await database.query(
            """
            UPDATE api_keys k SET revoked_at = now()
            WHERE k.id = \(.text(id)) AND k.revoked_at IS NULL AND \(Self.isIn(scope))
            RETURNING k.publisher
            """
        ).first?.get(0)
    }
}
