import Postgres
public import RelayCore

extension RelayStore {
    private static let publisherSQL = "INSERT INTO publishers (id) VALUES ($1) ON CONFLICT DO NOTHING"

    private static let createSQL = """
        INSERT INTO api_keys (id, publisher, role, app, name, digest, all_publishers) VALUES ($1, $2, $3, $4, $5, $6, $7)
        """

    /// A key of all publishers is none of a single one's.
    private static let keyScopeSQL = "($2::text IS NULL OR publisher = $2 AND NOT all_publishers)"

    private static let listSQL = """
        SELECT id, publisher, role, app, name, digest, created_at, revoked_at, token_digest, all_publishers
        FROM api_keys
        WHERE ($1 OR revoked_at IS NULL) AND \(keyScopeSQL)
        ORDER BY created_at, id
        LIMIT 10000
        """

    private static let revokeSQL = """
        UPDATE api_keys SET revoked_at = coalesce(revoked_at, now())
        WHERE id = $1 AND \(keyScopeSQL)
        RETURNING publisher
        """

    /// Makes a key, and its publisher where new.
    ///
    /// - Parameter seesAllPublishers: of an ops key alone: it is held to no publisher.
    /// - Returns: the key itself: nobody can read it a second time.
    public func createKey(
        role: KeyRole, name: String, publisher: PublisherID, app: BundleID, seesAllPublishers: Bool = false,
        using generator: inout some RandomNumberGenerator
    ) async throws -> String {
        let (id, key) = APIKey.make(role: role, using: &generator)
        try await pool.withTransaction { transaction in
            _ = try await transaction.query(PostgresQuery(Self.publisherSQL, [.text(publisher)]))
            _ = try await transaction.query(
                PostgresQuery(
                    Self.createSQL,
                    [
                        .text(id), .text(publisher), .int2(role.rawValue), .text(app), .text(name),
                        .bytea(APIKey.digest(of: key)), .bool(seesAllPublishers),
                    ]))
        }
        return key
    }

    public func keys(includingRevoked: Bool, in scope: OpsScope) async throws -> [APIKey] {
        try await pool.query(PostgresQuery(Self.listSQL, [.bool(includingRevoked), scope.parameter])).map {
            try Self.key($0)
        }
    }

    /// Those that open something. One that this version cannot make sense of opens nothing, and keeps no other from it.
    func usableKeys() async throws -> [APIKey] {
        try await pool.query(PostgresQuery(Self.listSQL, [.bool(false), OpsScope.all.parameter])).compactMap {
            try? Self.key($0)
        }
    }

    /// Of a row whose first columns are those of ``keys(includingRevoked:in:)``.
    static func key(_ row: PostgresRow) throws -> APIKey {
        let number = try row.get(2, as: Int16.self)
        guard let role = KeyRole(rawValue: number) else {
            throw StoreError.unknownNumber(column: "role", number: Int(number))
        }
        return APIKey(
            id: try row.get(0), publisher: try row.get(1), seesAllPublishers: try row.get(9), role: role,
            app: try row.get(3), name: try row.get(4),
            digest: try row.get(5), tokenDigest: try row.get(8), createdAt: try row.timestamp(6),
            revokedAt: try row.timestampIfSet(7))
    }

    /// A running copy forgets a revoked key within two seconds.
    ///
    /// - Returns: whose it was; nil for an unknown id, and for one outside the scope.
    public func revokeKey(_ id: APIKeyID, in scope: OpsScope) async throws -> PublisherID? {
        try await pool.query(PostgresQuery(Self.revokeSQL, [.text(id), scope.parameter])).first?.get(0)
    }
}
