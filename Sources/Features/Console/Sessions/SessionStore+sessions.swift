import Postgres
import Relay
import RelayCore

extension SessionStore {
    /// Starts a browser's session, and records it in the audit log.
    func begin(
        _ token: ConsoleSession.Token, key: APIKey, for lifetime: Duration
    ) async throws {
        try await database.withTransaction { transaction in
            _ = try await transaction.commit(with: [
                "DELETE FROM console_sessions WHERE expires_at <= now()",
                """
                INSERT INTO console_sessions (digest, key_id, expires_at)
                VALUES (\(.bytea(token.digest)), \(.text(key.id)), now() + \(lifetime))
                """,
                AuditStore.query(
                    auditing: AuditEntry(actor: key.actor, .signedIn, "console", of: key.opsScope.publisher)),
            ])
        }
    }

    /// Nil if the session has ended or never existed; revoking a key ends its sessions. Index used: the primary key.
    func find(_ token: ConsoleSession.Token) async throws -> ConsoleSession? {
        try await database.query(
            """
            SELECT \(KeyStore.keyColumns), s.expires_at
            FROM console_sessions s
            JOIN api_keys k ON k.id = s.key_id
            WHERE s.digest = \(.bytea(token.digest)) AND s.expires_at > now() AND k.revoked_at IS NULL
            """
        ).first.map { ConsoleSession(key: try KeyStore.key($0), expiresAt: try $0.timestamp("expires_at")) }
    }

    func end(_ token: ConsoleSession.Token, key: APIKey) async throws {
        try await database.withTransaction { transaction in
            _ = try await transaction.commit(with: [
                "DELETE FROM console_sessions WHERE digest = \(.bytea(token.digest))",
                AuditStore.query(
                    auditing: AuditEntry(actor: key.actor, .signedOut, "console", of: key.opsScope.publisher)),
            ])
        }
    }
}
