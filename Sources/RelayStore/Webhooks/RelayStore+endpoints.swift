import Postgres
public import RelayCore

extension RelayStore {
    private static let endpointColumns = """
        e.id, e.publisher, e.kind, e.url, e.environment, e.events, e.from_settings, e.created_at, e.last_success_at,
        e.failing_since, e.disabled_at, e.disabled_reason
        """

    /// The whole of a small table.
    private static let endpointsSQL = """
        SELECT \(endpointColumns)
        FROM webhook_endpoints e
        WHERE e.removed_at IS NULL AND \(OpsScope.sql("e.publisher", 1))
        ORDER BY e.created_at, e.id
        LIMIT 10000
        """

    /// Index used: the primary key, as in all that follow.
    private static let endpointSQL = """
        SELECT \(endpointColumns) FROM webhook_endpoints e
        WHERE e.id = $1 AND e.removed_at IS NULL AND \(OpsScope.sql("e.publisher", 2))
        """

    private static let addSQL = """
        INSERT INTO webhook_endpoints (id, publisher, kind, url, environment, events)
        SELECT $1, p.id, $3, $4, $5, $6 FROM publishers p WHERE p.id = $2
        """

    private static let removeSQL = """
        UPDATE webhook_endpoints SET removed_at = now() WHERE id = $1 AND removed_at IS NULL
        """

    private static let disableSQL = """
        UPDATE webhook_endpoints SET disabled_at = now(), disabled_reason = $2
        WHERE id = $1 AND disabled_at IS NULL AND removed_at IS NULL AND \(OpsScope.sql("publisher", 3))
        RETURNING publisher
        """

    private static let enableSQL = """
        UPDATE webhook_endpoints SET disabled_at = NULL, disabled_reason = NULL, failing_since = NULL
        WHERE id = $1 AND removed_at IS NULL AND \(OpsScope.sql("publisher", 2))
        RETURNING publisher
        """

    /// Another copy may have had a success since this one looked: five days without one are not over then.
    private static let disableFailingSQL = """
        UPDATE webhook_endpoints SET disabled_at = now(), disabled_reason = $2
        WHERE id = $1 AND disabled_at IS NULL AND removed_at IS NULL
          AND failing_since <= now() - $3::int8 * interval '1 microsecond'
        RETURNING publisher
        """

    private static let failingSQL = """
        UPDATE webhook_endpoints SET failing_since = now() WHERE id = $1 AND failing_since IS NULL
        """

    private static let succeededSQL = """
        UPDATE webhook_endpoints SET failing_since = NULL, last_success_at = now() WHERE id = $1
        """

    private static let mainSQL = "INSERT INTO publishers (id) VALUES ($1) ON CONFLICT DO NOTHING"

    private static let unlistedSQL = """
        UPDATE webhook_endpoints e SET removed_at = now()
        WHERE e.from_settings AND e.removed_at IS NULL AND e.publisher = $1 AND e.url <> ALL ($2::text[])
        """

    /// Index used: `webhook_endpoints_settings`, where two copies that start at once meet.
    private static let listedSQL = """
        INSERT INTO webhook_endpoints (id, publisher, kind, url, environment, from_settings)
        SELECT i.id, $1, 1, i.url, 0, true
        FROM unnest($2::text[], $3::text[]) AS i(id, url)
        ON CONFLICT (publisher, url) WHERE from_settings AND removed_at IS NULL DO NOTHING
        """

    /// All that were not removed, in the order in which they were added.
    public func endpoints(in scope: OpsScope) async throws -> [WebhookEndpoint] {
        try await pool.query(PostgresQuery(Self.endpointsSQL, [scope.parameter])).map(Self.endpoint)
    }

    /// Nil where there is none, it was removed, or is outside the scope.
    public func endpoint(_ id: EndpointID, in scope: OpsScope) async throws -> WebhookEndpoint? {
        try await pool.query(PostgresQuery(Self.endpointSQL, [.text(id.description), scope.parameter])).first.map(
            Self.endpoint)
    }

    /// Nil where there is no such publisher.
    public func addEndpoint(
        publisher: PublisherID, kind: WebhookEndpoint.Kind = .purchases, url: String,
        environment: WebhookEnvironment = .all
    ) async throws -> EndpointID? {
        var generator = SystemRandomNumberGenerator()
        let id = EndpointID(using: &generator)
        var events: String?
        if case .events(let names) = kind { events = names.joined(separator: ",") }
        let written = try await pool.query(
            PostgresQuery(
                Self.addSQL,
                [
                    .text(id.description), .text(publisher), .int2(kind.number), .text(url),
                    .int2(environment.rawValue), .text(events),
                ]))
        return written.affectedRows == 1 ? id : nil
    }

    /// The first publisher may have endpoints before it has a key.
    public func ensureFirstPublisher() async throws {
        _ = try await pool.query(PostgresQuery(Self.mainSQL, [.text(PublisherID.first)]))
    }

    /// What waits for it is dropped by the delivery service. False where there is none.
    public func removeEndpoint(_ id: EndpointID) async throws -> Bool {
        try await pool.query(PostgresQuery(Self.removeSQL, [.text(id.description)])).affectedRows == 1
    }

    /// What waits for it is dropped by the delivery service.
    ///
    /// - Returns: whose it is; nil where it was disabled already, or there is none in the scope.
    public func disableEndpoint(
        _ id: EndpointID, _ reason: EndpointStanding.Reason, in scope: OpsScope
    ) async throws -> PublisherID? {
        let parameters: [PostgresValue] = [.text(id.description), .text(reason.rawValue)]
        let query =
            reason == .failing
            ? PostgresQuery(Self.disableFailingSQL, parameters + [.int8(EndpointStanding.patience.microseconds)])
            : PostgresQuery(Self.disableSQL, parameters + [scope.parameter])
        return try await pool.query(query).first?.get(0)
    }

    /// What was dropped stays so.
    ///
    /// - Returns: whose it is; nil where there is none in the scope.
    public func enableEndpoint(_ id: EndpointID, in scope: OpsScope) async throws -> PublisherID? {
        try await pool.query(PostgresQuery(Self.enableSQL, [.text(id.description), scope.parameter])).first?.get(0)
    }

    /// Writes how an endpoint does. One that is disabled by it stands in the audit log, too.
    ///
    /// - Returns: whether anything changed by it.
    public func note(_ change: EndpointStanding.Change, of id: EndpointID) async throws -> Bool {
        switch change {
        case .failing: try await pool.query(PostgresQuery(Self.failingSQL, [.text(id.description)])).affectedRows == 1
        case .succeeded:
            try await pool.query(PostgresQuery(Self.succeededSQL, [.text(id.description)])).affectedRows == 1
        case .disabled(let reason):
            try await transaction { store in
                guard let publisher = try await store.disableEndpoint(id, reason, in: .all) else { return false }
                try await store.audit(
                    AuditEntry(
                        actor: AuditEntry.relay, .endpointDisabled, "\(id)", of: publisher, reason: reason.rawValue))
                return true
            }
        }
    }

    /// Brings the endpoints of the configuration in step with it: those that are new are added, those no longer listed are
    /// removed. Safe when several copies do it at once.
    public func keepEndpoints(listed urls: [String], publisher: PublisherID? = nil) async throws {
        let publisher = publisher ?? PublisherID.first
        var generator = SystemRandomNumberGenerator()
        let ids = urls.map { _ in EndpointID(using: &generator).description }
        _ = try await pool.withTransaction { transaction in
            try await transaction.commit(with: [
                PostgresQuery(Self.mainSQL, [.text(publisher)]),
                PostgresQuery(Self.unlistedSQL, [.text(publisher), .textArray(urls)]),
                PostgresQuery(Self.listedSQL, [.text(publisher), .textArray(ids), .textArray(urls)]),
            ])
        }
    }

    private static func endpoint(_ row: PostgresRow) throws -> WebhookEndpoint {
        guard let id = EndpointID(try row.get(0, as: String.self)) else { throw StoreError.unreadable(column: "id") }
        let number = try row.get(4, as: Int16.self)
        guard let environment = WebhookEnvironment(rawValue: number) else {
            throw StoreError.unknownNumber(column: "environment", number: Int(number))
        }
        let events = try row.get(5, as: String?.self)
        return WebhookEndpoint(
            id: id, publisher: try row.get(1),
            kind: try row.get(2, as: Int16.self) == 1
                ? .purchases : .events((events ?? "").parts(at: ",").filter { !$0.isEmpty }.map(String.init)),
            url: try row.get(3), environment: environment, isFromSettings: try row.get(6),
            createdAt: try row.timestamp(7), lastSuccessAt: try row.timestampIfSet(8),
            failingSince: try row.timestampIfSet(9), disabledAt: try row.timestampIfSet(10),
            disabledReason: try row.get(11))
    }
}
