package import Postgres
public import RelayCore

extension KeyStore {
    package static let keyColumns: SQL = """
        k.id, k.publisher, k.role, k.app, k.name, k.digest, k.created_at, k.revoked_at, k.token_digest, k.all_publishers
        """

    /// A key of all publishers is not in the scope of a single one.
    private static func isIn(_ scope: OpsScope) -> SQL {
        "(\(.text(scope.publisher)) IS NULL OR k.publisher = \(.text(scope.publisher)) AND NOT k.all_publishers)"
    }

    static let mostListed = 10_000

    /// The newest keys, in the order of creation.
    private static func list(includingRevoked: Bool, in scope: OpsScope, limit: Int = mostListed) -> SQL {
        """
        SELECT \(keyColumns)
        FROM (
            SELECT *
            FROM api_keys k
            WHERE (\(.bool(includingRevoked)) OR k.revoked_at IS NULL) AND \(isIn(scope))
            ORDER BY k.created_at DESC, k.id DESC
            LIMIT \(.int4(Int32(limit)))
        ) AS k
        ORDER BY k.created_at, k.id
        """
    }

    /// Creates a key, and its publisher if new.
    ///
    /// - Parameter seesAllPublishers: for ops keys only: the key is not restricted to a publisher.
    /// - Returns: the key itself, which cannot be read a second time.
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

    /// Reads keys that are not revoked: the newest, and the requested ones of the rest. Leaves out keys that this
    /// version cannot decode. Index used: the primary key, for the requested ones.
    ///
    /// - Parameters:
    ///   - limit: number of newest keys.
    ///   - wanted: ids read in addition if there are more than `limit` keys.
    func usable(limit: Int, and wanted: Set<APIKeyID>) async throws -> (newest: [APIKey], others: [APIKey]) {
        let rows = try await database.query(Self.list(includingRevoked: false, in: .all, limit: limit))
        let newest = rows.compactMap { try? Self.key($0) }
        let missing = wanted.subtracting(newest.map(\.id))
        guard rows.count >= limit, !missing.isEmpty else { return (newest, []) }
        let others = try await database.query(
            """
            SELECT \(Self.keyColumns)
            FROM api_keys k
            WHERE k.id = ANY (\(.textArray(missing.map(\.text)))) AND k.revoked_at IS NULL
            """)
        return (newest, others.compactMap { try? Self.key($0) })
    }

    /// Reads a row with ``keyColumns``.
    package static func key(_ row: PostgresRow) throws -> APIKey {
        APIKey(
            id: try row.get("id"), publisher: try row.get("publisher"),
            seesAllPublishers: try row.get("all_publishers"),
            role: try row.constant("role"), app: try row.get("app"), name: try row.get("name"),
            digest: try row.get("digest"), tokenDigest: try row.get("token_digest"),
            createdAt: try row.timestamp("created_at"), revokedAt: try row.timestampIfSet("revoked_at"))
    }

    /// Revokes a key. A running copy rejects it within two seconds.
    ///
    /// - Returns: the key's publisher; nil if it was already revoked, or the scope does not contain it.
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
