import Postgres
public import RelayCore

extension SubscriptionStore {
    /// Claims due subscriptions. Index used: `ledgers_due`. If a process dies, another one claims its subscriptions
    /// after the lease.
    ///
    /// - Parameter own: publishers whose own accounts this copy has.
    public func claimDue(
        own: [PublisherID] = [], full: Set<PublisherID?> = [], limit: Int, lease: Duration
    ) async throws -> [ClaimedSubscription] {
        let rows = try await database.query(
            """
            WITH due AS MATERIALIZED (
                SELECT l.bucket, l.publisher, l.environment, l.subscription_key
                FROM ledgers l
                WHERE l.due_at <= now() AND \(PublisherScope.hasAccount(own, without: full, "l.publisher"))
                ORDER BY l.due_at
                LIMIT \(.int4(Int32(limit)))
                FOR UPDATE SKIP LOCKED
            )
            UPDATE ledgers l
            SET due_at = now() + \(lease), fence = l.fence + 1, \(WorkQueue.strike("l"))
            FROM due
            WHERE \(.sameSubscription("l", "due"))
            RETURNING l.publisher, l.environment, l.subscription_key, l.fence, \(WorkQueue.columns("l"))
            """)
        return try await relay.queues.decode(rows) {
            let name = try $0.subscriptionName()
            return try ClaimedRow(.subscriptions, .subscription(name), fence: $0.get("fence"), $0)
        } _: { row, claimed in
            ClaimedSubscription(row: claimed, name: try row.subscriptionName())
        }
    }

    /// Records statements about subscriptions, and writes their consequences.
    ///
    /// - Parameters:
    ///   - messages: one for each subscription.
    ///   - asks: whether the caller asks the open questions. Otherwise the subscription becomes due for a claim.
    ///   - asksFor: time in which it must have asked them.
    /// - Throws: ``PostgresError``, ``StoreError``; then nothing is written for any of them.
    public func record(
        _ messages: [LedgerMessage], asks: Bool = false, asksFor: Duration = .seconds(60)
    ) async throws -> [LedgerView] {
        guard !messages.isEmpty else { return [] }
        try await relay.offers.ready()
        let ledgers = LedgerTransaction(messages, memory: memory, asks: asks, asksFor: asksFor)
        let (applied, changed, closing) = try await database.retryingConflicts {
            try await database.withTransaction { transaction in
                let answers = try await transaction.pipeline(ledgers.opening)
                let applied = try ledgers.apply(answers[...])
                let closing = applied.closing()
                let changed = try closing.changed(try await transaction.commit(with: closing.queries))
                return (applied, changed, closing)
            }
        }
        relay.publish(changed, closing)
        return applied.batch.all.map { LedgerView($0) }
    }

    /// Makes a subscription due within the pause. Never postpones one that is due sooner.
    ///
    /// - Parameter claim: this process's claim of it. Without one, a subscription that is claimed stays as it is.
    public func lookAgain(
        at name: SubscriptionName, claim: ClaimedRow? = nil, trouble: String, within pause: Duration
    ) async throws {
        _ = try await database.query(
            """
            UPDATE ledgers l
            SET trouble = \(.text(trouble.bounded(200))), due_at = least(l.due_at, now() + \(pause))
            WHERE l.parked_at IS NULL AND (l.strikes = 0 OR l.fence = \(.int4(claim?.fence))) AND \(name.isKey(of: "l"))
            """)
    }
}

/// A subscription that this process evaluates while its lease is valid.
public struct ClaimedSubscription: ClaimedItem {
    public let row: ClaimedRow
    public let name: SubscriptionName
}

extension ClaimedSubscription: LeasedItem {}
