import Formats
import Postgres
public import RelayCore

// The table is small: lists read all of it, single endpoints use the primary key.
extension WebhookStore {
    private static let endpoints: SQL = """
        SELECT e.id, e.publisher, e.kind, e.url, e.environment, e.events, e.from_settings, e.created_at, e.last_success_at,
               e.failing_since, e.disabled_at, e.disabled_reason
        FROM webhook_endpoints e
        """

    /// All endpoints that were not removed, in the order of creation.
    public func endpoints(in scope: OpsScope) async throws -> [WebhookEndpoint] {
        try await database.query(Self.list(in: scope)).map(Self.endpoint)
    }

    /// The same of all publishers, within a transaction.
    static func endpoints(in transaction: PostgresTransaction) async throws -> [WebhookEndpoint] {
        try await transaction.query(list(in: .all)).map(endpoint)
    }

    private static func list(in scope: OpsScope) -> SQL {
        """
        \(endpoints)
        WHERE e.removed_at IS NULL AND \(scope.includes("e.publisher"))
        ORDER BY e.created_at, e.id
        LIMIT 10000
        """
    }

    /// Nil if the endpoint does not exist, was removed, or is outside the scope.
    public func endpoint(_ id: EndpointID, in scope: OpsScope) async throws -> WebhookEndpoint? {
        try await database.query(
            """
            \(Self.endpoints)
            WHERE e.id = \(.text(id.description)) AND e.removed_at IS NULL AND \(scope.includes("e.publisher"))
            """
        ).first.map(Self.endpoint)
    }

    /// The endpoint for purchases with this URL; of several, an enabled one. Concurrent calls for the same publisher
    /// wait for the end of the transaction.
    public func endpoint(url: String, of publisher: PublisherID) async throws -> WebhookEndpoint? {
        _ = try await database.query(Self.lock(publisher: publisher))
        let found = try await endpoints(in: .publisher(publisher)).filter { $0.kind == .purchases && $0.url == url }
        return found.first(where: \.isActive) ?? found.first
    }

    private static func lock(publisher: PublisherID) -> SQL {
        "SELECT p.id FROM publishers p WHERE p.id = \(.text(publisher)) FOR NO KEY UPDATE"
    }

    /// Nil if there is no such publisher.
    public func addEndpoint(
        publisher: PublisherID, kind: WebhookEndpoint.Kind = .purchases, url: String,
        environment: WebhookEnvironment = .all
    ) async throws -> EndpointID? {
        var generator = SystemRandomNumberGenerator()
        let id = EndpointID(using: &generator)
        var events: String?
        if case .events(let names) = kind { events = names.joined(separator: ",") }
        let written = try await database.query(
            """
            INSERT INTO webhook_endpoints (id, publisher, kind, url, environment, events)
            SELECT \(.text(id.description)), p.id, \(.int2(kind.stored.rawValue)), \(.text(url)),
                   \(.int2(environment.rawValue)), \(.text(events))
            FROM publishers p WHERE p.id = \(.text(publisher))
            """)
        return written.affectedRows == 1 ? id : nil
    }

    /// Creates the first publisher, which may have endpoints before it has a key.
    public func ensureFirstPublisher() async throws {
        _ = try await database.query(Self.insert(publisher: .first))
    }

    private static func insert(publisher: PublisherID) -> SQL {
        "INSERT INTO publishers (id) VALUES (\(.text(publisher))) ON CONFLICT DO NOTHING"
    }

    /// Removes an endpoint; the delivery service drops its waiting messages. False if there is no such endpoint.
    public func removeEndpoint(_ id: EndpointID) async throws -> Bool {
        try await update(id, "removed_at = now()", where: "removed_at IS NULL")
    }

    /// Deletes endpoints that were removed this long ago, unless a message for one is still queued.
    ///
    /// - Parameter age: longer than messages are kept, because lists of messages show the endpoint's URL.
    /// - Returns: how many were deleted.
    public func pruneEndpoints(removedFor age: Duration) async throws -> Int {
        try await database.query(
            """
            DELETE FROM webhook_endpoints e
            WHERE e.removed_at < now() - \(age) AND NOT EXISTS (SELECT FROM webhook_queue q WHERE q.endpoint = e.id)
            """
        ).affectedRows
    }

    /// Disables an endpoint; the delivery service drops its waiting messages.
    ///
    /// - Returns: the endpoint's publisher; nil if it was already disabled, or the scope does not contain it.
    public func disableEndpoint(
        _ id: EndpointID, _ reason: EndpointHealth.Reason, in scope: OpsScope
    ) async throws -> PublisherID? {
        // Another copy may have had a success meanwhile, which restarts the five days.
        let isStill: SQL = reason == .failing ? "failing_since <= now() - \(EndpointHealth.patience)" : "true"
        return try await database.query(
            """
            UPDATE webhook_endpoints SET disabled_at = now(), disabled_reason = \(.text(reason.rawValue))
            WHERE id = \(.text(id.description)) AND disabled_at IS NULL AND removed_at IS NULL AND \(isStill)
              AND \(scope.includes("publisher"))
            RETURNING publisher
            """
        ).first?.get(0)
    }

    /// Enables an endpoint. Messages that were dropped stay dropped.
    ///
    /// - Returns: the endpoint's publisher; nil if the scope does not contain it.
    public func enableEndpoint(_ id: EndpointID, in scope: OpsScope) async throws -> PublisherID? {
        try await database.query(
            """
            UPDATE webhook_endpoints SET disabled_at = NULL, disabled_reason = NULL, failing_since = NULL
            WHERE id = \(.text(id.description)) AND removed_at IS NULL AND \(scope.includes("publisher"))
            RETURNING publisher
            """
        ).first?.get(0)
    }

    /// Writes a change of an endpoint's health. If it disables the endpoint, the audit log records it too.
    ///
    /// - Returns: whether the endpoint changed.
    public func note(_ change: EndpointHealth.Change, of id: EndpointID) async throws -> Bool {
        switch change {
        case .failing: try await update(id, "failing_since = now()", where: "failing_since IS NULL")
        case .succeeded: try await update(id, "failing_since = NULL, last_success_at = now()", where: "true")
        case .disabled(let reason):
            try await relay.transaction { store in
                guard let publisher = try await store.webhooks.disableEndpoint(id, reason, in: .all) else {
                    return false
                }
                try await store.audit.add(
                    AuditEntry(
                        actor: AuditEntry.relay, .endpointDisabled, "\(id)", of: publisher, reason: reason.rawValue))
                return true
            }
        }
    }

    private func update(_ id: EndpointID, _ changes: SQL, where condition: SQL) async throws -> Bool {
        try await database.query(
            "UPDATE webhook_endpoints SET \(changes) WHERE id = \(.text(id.description)) AND \(condition)"
        ).affectedRows == 1
    }

    /// Synchronizes endpoints with the configuration: adds new ones and removes those no longer listed. A URL that an
    /// operator added, for all environments, is not added again. Safe if several copies do it at once.
    public func keepEndpoints(listed urls: [String], publisher: PublisherID? = nil) async throws {
        let publisher = publisher ?? PublisherID.first
        var generator = SystemRandomNumberGenerator()
        let listed: SQLTable = [
            "id": .textArray(urls.map { _ in EndpointID(using: &generator).description }), "url": .textArray(urls),
        ]
        _ = try await database.withTransaction { transaction in
            try await transaction.commit(with: [
                Self.insert(publisher: publisher), Self.lock(publisher: publisher),
                """
                UPDATE webhook_endpoints e SET removed_at = now()
                WHERE e.from_settings AND e.removed_at IS NULL AND e.publisher = \(.text(publisher))
                  AND e.url <> ALL (\(.textArray(urls)))
                """,
                """
                INSERT INTO webhook_endpoints (id, publisher, kind, url, environment, from_settings)
                SELECT i.id, \(.text(publisher)), \(WebhookEndpoint.StoredKind.purchases), i.url,
                       \(WebhookEnvironment.all), true
                FROM \(listed, as: "i")
                WHERE NOT EXISTS (
                    SELECT FROM webhook_endpoints e
                    WHERE e.publisher = \(.text(publisher)) AND e.url = i.url AND e.removed_at IS NULL
                      AND e.kind = \(WebhookEndpoint.StoredKind.purchases) AND e.environment = \(WebhookEnvironment.all))
                ON CONFLICT (publisher, url) WHERE from_settings AND removed_at IS NULL DO NOTHING
                """,
            ])
        }
    }

    private static func endpoint(_ row: PostgresRow) throws -> WebhookEndpoint {
        let events = try row.get("events", as: String?.self) ?? ""
        let kind: WebhookEndpoint.Kind =
            switch try row.constant("kind", as: WebhookEndpoint.StoredKind.self) {
            case .purchases: .purchases
            case .events: .events(events.parts(at: ",").filter { !$0.isEmpty }.map(String.init))
            }
        return WebhookEndpoint(
            id: try row.endpointID("id"), publisher: try row.get("publisher"), kind: kind, url: try row.get("url"),
            environment: try row.constant("environment"), isFromSettings: try row.get("from_settings"),
            createdAt: try row.timestamp("created_at"), lastSuccessAt: try row.timestampIfSet("last_success_at"),
            failingSince: try row.timestampIfSet("failing_since"), disabledAt: try row.timestampIfSet("disabled_at"),
            disabledReason: try row.get("disabled_reason"))
    }
}
