import Postgres
import RelayCore

extension RelayStore {
    private static let beginSQL = """
        INSERT INTO console_sessions (digest, key_id, expires_at)
        VALUES ($1, $2, now() + $3::int8 * interval '1 microsecond')
        """

    /// Whoever revokes a key ends its sessions with it.
    private static let findSQL = """
        SELECT k.id, k.publisher, k.role, k.app, k.name, k.digest, k.created_at, k.revoked_at, k.token_digest,
               k.all_publishers, s.expires_at
        FROM console_sessions s
        JOIN api_keys k ON k.id = s.key_id
        WHERE s.digest = $1 AND s.expires_at > now() AND k.revoked_at IS NULL
        """

    private static let endSQL = "DELETE FROM console_sessions WHERE digest = $1"

    private static let pruneSessionsSQL = "DELETE FROM console_sessions WHERE expires_at <= now()"

    /// Signs a browser in, and writes down that it was.
    public func beginSession(
        _ token: ConsoleSession.Token, key: APIKey, for lifetime: Duration
    ) async throws {
        try await pool.withTransaction { transaction in
            _ = try await transaction.pipeline([
                PostgresQuery(Self.pruneSessionsSQL),
                PostgresQuery(Self.beginSQL, [.bytea(token.digest), .text(key.id), .int8(lifetime.microseconds)]),
                Self.query(
                    auditing: AuditEntry(actor: key.actor, .signedIn, "console", of: key.opsScope.publisher)),
            ])
        }
    }

    /// Nil where it has ended, or never was. Index used: the primary key.
    public func session(_ token: ConsoleSession.Token) async throws -> ConsoleSession? {
        guard let row = try await pool.query(PostgresQuery(Self.findSQL, [.bytea(token.digest)])).first else {
            return nil
        }
        return ConsoleSession(key: try Self.key(row), expiresAt: try row.timestamp(10))
    }

    public func endSession(_ token: ConsoleSession.Token, key: APIKey) async throws {
        try await pool.withTransaction { transaction in
            _ = try await transaction.pipeline([
                PostgresQuery(Self.endSQL, [.bytea(token.digest)]),
                Self.query(
                    auditing: AuditEntry(actor: key.actor, .signedOut, "console", of: key.opsScope.publisher)),
            ])
        }
    }
}
