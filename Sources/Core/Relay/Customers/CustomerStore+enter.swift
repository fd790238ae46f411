import Postgres
public import RelayCore

/// A subscription after its receipt was entered into the ledger.
public struct EnteredSubscription: Sendable {
    public var name: SubscriptionName
    /// The newest purchase of each product that the subscription ever had.
    public var purchases: [CustomerPurchase]
    /// The owner by a grant of Cleeng's, if any.
    public var owner: LedgerView.Owner?
}

extension CustomerStore {
    /// Records a genuine receipt's statements in the ledger, and claims the subscriptions for a customer if one is
    /// named.
    ///
    /// - Parameters:
    ///   - messages: one for each of its subscriptions, and one for each former id (``LedgerMessage/withMoves``).
    ///   - customer: customer who claims the subscriptions; nil claims none.
    ///   - app: bundle id of the app's key, or empty.
    /// - Throws: ``PostgresError``, ``StoreError``; then nothing is written.
    public func enter(
        _ messages: [LedgerMessage], for customer: CustomerName?, app: BundleID
    ) async throws -> [EnteredSubscription] {
        guard !messages.isEmpty else { return [] }
        try await relay.offers.ready()
        let ledgers = LedgerTransaction(messages, memory: memory)
        // A moved subscription is claimed under its new id.
        let claimed = ledgers.messages.filter { $0.statement.movesTo == nil }
        let claim = customer.map { [Self.claim(claimed, for: $0, app: app)] } ?? []
        let (applied, changed, closing) = try await database.retryingConflicts {
            try await database.withTransaction { transaction in
                let answers = try await transaction.pipeline(claim + ledgers.opening)
                let applied = try ledgers.apply(answers[claim.count...])
                var closing = applied.closing()
                if let customer, let rows = answers.first {
                    let changes = try rows.flatMap { try Self.changes($0, customer) }
                    if !changes.isEmpty { closing.queries.append(CustomerChange.write(changes)) }
                    closing.customers += changes.map(\.customer)
                }
                closing.queries += QuestionStore.sweep(ledgers.messages.map { (name: $0.name, app: $0.bundleID) })
                let changed = try closing.changed(try await transaction.commit(with: closing.queries))
                return (applied, changed, closing)
            }
        }
        relay.publish(changed, closing)
        return applied.batch.all.filter { $0.message.statement.movesTo == nil }.map { one in
            let name = one.message.name
            return EnteredSubscription(
                name: name,
                purchases: one.ledger.purchases(
                    of: name, shown: one.shown?.status, at: one.found.now, leeway: memory.leeway),
                owner: one.found.owner)
        }
    }

    /// Makes the customer the claimant of subscriptions that have no owner by a grant of Cleeng's; earlier claims by
    /// other customers end. Writes in the order of the keys, the lock order of every writer.
    private static func claim(_ messages: [LedgerMessage], for customer: CustomerName, app: BundleID) -> SQL {
        let table: SQLTable =
            SQLTable.subscriptions(messages.map(\.name)) + [
                "product_id": .textArray(messages.map { $0.statement.periods.first?.productID })
            ]
        return """
            INSERT INTO subscriptions AS s (
                bucket, publisher, environment, subscription_key, application_username, app, product_id, accepted_at,
                owned_since, sealed_by)
            SELECT i.bucket, i.publisher, i.environment, i.subscription_key, \(.privateText(customer.username)),
                   \(.text(app)), i.product_id, 'epoch', clock_timestamp(), \(.keyOfTexts)
            FROM \(table, as: "i", ordinal: "ordinal")
            ORDER BY i.ordinal
            ON CONFLICT (bucket, publisher, environment, subscription_key) DO UPDATE SET
                previous_username = s.application_username, application_username = excluded.application_username,
                app = excluded.app, product_id = excluded.product_id, owned_since = excluded.owned_since,
                sealed_by = excluded.sealed_by
            WHERE s.id IS NULL AND s.application_username <> excluded.application_username
            RETURNING s.publisher, s.environment, s.subscription_key,
                      ROW(s.sealed_by, s.previous_username) AS previous_username
            """
    }

    private static func changes(_ row: PostgresRow, _ customer: CustomerName) throws -> [CustomerChange] {
        let subscription = try row.subscriptionName()
        let now = CustomerChange(customer: customer, reason: .receiptValidated, subscription: subscription)
        guard let previous = try row.open("previous_username", as: Username?.self) else { return [now] }
        let before = CustomerName(publisher: customer.publisher, username: previous)
        return [now, CustomerChange(customer: before, reason: .other, subscription: subscription)]
    }
}
