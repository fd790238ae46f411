import Postgres
public import RelayCore

extension RelayStore {
    /// Index used: `ledgers_due`. Whoever dies with what it took is stood in for after the lease.
    private static let claimSQL = """
        WITH due AS MATERIALIZED (
            SELECT l.bucket, l.publisher, l.environment, l.subscription_key
            FROM ledgers l
            WHERE l.due_at <= now() AND \(PublisherScope.hasAccountSQL("l.publisher", 3))
            ORDER BY l.due_at
            LIMIT $1
            FOR UPDATE SKIP LOCKED
        )
        UPDATE ledgers l
        SET due_at = now() + $2::int8 * interval '1 microsecond', \(WorkQueue.strike("l"))
        FROM due
        WHERE l.bucket = due.bucket AND l.publisher = due.publisher AND l.environment = due.environment
          AND l.subscription_key = due.subscription_key
        RETURNING l.publisher, l.environment, l.subscription_key, l.strikes, \(WorkQueue.columns("l"))
        """

    private static let troubleSQL = """
        UPDATE ledgers l
        SET trouble = $5, due_at = now() + $6::int8 * interval '1 microsecond'
        WHERE l.parked_at IS NULL AND l.bucket = $1 AND l.publisher = $2 AND l.environment = $3 AND l.subscription_key = $4
        """

    private static let soonerSQL = """
        UPDATE ledgers l
        SET trouble = $5, due_at = least(l.due_at, now() + $6::int8 * interval '1 microsecond')
        WHERE l.parked_at IS NULL AND l.bucket = $1 AND l.publisher = $2 AND l.environment = $3 AND l.subscription_key = $4
        """

    /// Takes subscriptions that have to be looked at.
    ///
    /// - Parameter own: publishers whose own accounts this copy has.
    public func claimDueSubscriptions(
        own: [PublisherID] = [], limit: Int, lease: Duration
    ) async throws -> [ClaimedSubscription] {
        let rows = try await pool.query(
            PostgresQuery(Self.claimSQL, [.int4(Int32(limit)), .int8(lease.microseconds), .textArray(own)]))
        func name(_ row: PostgresRow) throws -> SubscriptionName {
            SubscriptionName(
                publisher: try row.get(0), environment: try row.get(1), originalTransactionID: try row.get(2))
        }
        return try await sift(rows) {
            try ClaimedRow(.subscriptions, .subscription(name($0)), fence: $0.get(3), $0)
        } _: { row, claimed in
            ClaimedSubscription(row: claimed, name: try name(row))
        }
    }

    /// Whoever hears asks about what is then in question; nobody else does before this is over.
    private static let patience = Duration.seconds(60)

    /// Hears words of subscriptions, and writes what follows from them.
    ///
    /// - Parameters:
    ///   - messages: of each subscription one.
    ///   - leeway: how long after its end one that will renew is waited for.
    /// - Throws: ``PostgresError``, ``StoreError``; then nothing of any of them is written.
    public func hear(_ messages: [LedgerMessage], leeway: Duration) async throws -> [HeardSubscription] {
        guard !messages.isEmpty else { return [] }
        let hearing = LedgerHearing(
            messages, instance: instance, leeway: leeway, catalogue: catalogue, patience: Self.patience)
        let (heard, changed, closing) = try await retryingDeadlock {
            try await pool.withTransaction { transaction in
                let answers = try await transaction.pipeline(hearing.opening)
                let heard = try hearing.hear(answers[...])
                let closing = hearing.closing(heard)
                let changed = try closing.changed(try await transaction.commit(with: closing.queries))
                return (heard, changed, closing)
            }
        }
        publish(changed, closing)
        return heard.map {
            HeardSubscription(
                name: $0.message.name, bundleID: $0.bundleID, standing: $0.standing, access: $0.access,
                granted: $0.granted, askedAt: $0.ledger.cleeng.mapValues(\.toldAt), owner: $0.owner, isTold: $0.isTold,
                heardAt: $0.now)
        }
    }

    /// Leaves one alone for a while that cannot be gone on with.
    public func postpone(_ name: SubscriptionName, trouble: String, by pause: Duration) async throws {
        try await note(trouble, of: name, Self.troubleSQL, pause)
    }

    /// Has one looked at again within the pause, or sooner where it is due sooner: its store could not be asked.
    public func lookAgain(at name: SubscriptionName, trouble: String, within pause: Duration) async throws {
        try await note(trouble, of: name, Self.soonerSQL, pause)
    }

    private func note(_ trouble: String, of name: SubscriptionName, _ sql: String, _ pause: Duration) async throws {
        _ = try await pool.query(
            PostgresQuery(
                sql,
                [
                    .int2(Int16(name.bucket.number)), .text(name.publisher), .text(name.environment),
                    .text(name.originalTransactionID), .text(trouble.bounded(200)), .int8(pause.microseconds),
                ]))
    }
}

/// A subscription that this process looks at, for as long as its lease holds.
public struct ClaimedSubscription: ClaimedItem {
    public let row: ClaimedRow
    public let name: SubscriptionName
}
