import Postgres
import Relay
import RelayCore

/// A checked subscription and its contract.
struct CheckedSubscription: Sendable, Equatable {
    struct Contract: Sendable, Equatable {
        var id: BillingID
        var customer: BillingID
    }

    var id: BillingID
    var platform: StorePlatform
    /// Nil if no order of this subscription was ever committed.
    var contract: Contract?
}

extension OrderStore {
    private static let environments = ["Production", "Sandbox", "Xcode", "LocalTesting"] as [StoreEnvironment]

    /// Stores checked subscriptions, so that an order can name them. A subscription that the store continues under
    /// another number is stored under that number. The ledger of one with a contract records the statement: there is no
    /// commit that would.
    ///
    /// - Returns: the subscriptions in the same order, without duplicates, and without those of another publisher's
    ///   apps.
    func record(
        _ subscriptions: [ExternalSubscription], publisher: PublisherID
    ) async throws -> [CheckedSubscription] {
        var found = try await present(subscriptions, publisher: publisher)
        guard !found.isEmpty else { return [] }
        let foreign = try await foreign(found.map(\.one.bundleID), to: publisher)
        if !foreign.isEmpty {
            // A subscription with this publisher's contract stays with it, even if the app now belongs to another
            // publisher.
            let contracts = try await contracts(of: found.flatMap(\.names))
            found.removeAll { one in
                one.one.bundleID.map(foreign.contains) == true && !one.names.contains { contracts[$0] != nil }
            }
            guard !found.isEmpty else { return [] }
        }
        _ = try await database.query(Self.write(found, publisher: publisher))
        let contracts = try await contracts(of: found.flatMap(\.names))
        for one in found
        where one.one.statement != LedgerStatement() && one.names.contains(where: { contracts[$0] != nil }) {
            let name = SubscriptionName(
                publisher: publisher, environment: one.one.environment, originalTransactionID: one.one.key)
            let message = LedgerMessage(name, one.one.statement, bundleID: one.one.bundleID)
            _ = try await relay.subscriptions.record(message.withMoves)
        }
        return found.map { one in
            CheckedSubscription(
                id: one.id, platform: one.one.platform, contract: one.names.lazy.compactMap { contracts[$0] }.first)
        }
    }

    /// Writes in the order of the keys, as every writer locks them. An older statement, or none, does not replace a
    /// newer one.
    private static func write(_ found: [Present], publisher: PublisherID) -> SQL {
        let statements = found.map { $0.one.statement == LedgerStatement() ? nil : $0.one.statement }
        let rows: SQLTable =
            SQLTable.externalSubscriptions(found.map(\.id)) + [
                "platform": .textArray(found.map(\.one.platform.rawValue)),
                "environment": .textArray(found.map(\.one.environment)),
                "subscription_key": .textArray(found.map(\.one.key)), "is_trial": .boolArray(found.map(\.one.isTrial)),
                "product_id": .textArray(found.map(\.one.productID)),
                "bundle_id": .textArray(found.map(\.one.bundleID)),
                "said_at": .timestamptzArray(statements.map { $0?.saidAt?.postgres }),
                "word": .textArray(statements.map { $0.flatMap { LedgerJSON.text($0) } }),
            ]
        return """
            INSERT INTO external_subscriptions AS e (
                bucket, id, publisher, platform, environment, subscription_key, checked_at, is_trial, product_id, bundle_id,
                said_at, word)
            SELECT i.bucket, i.id, \(.text(publisher)), i.platform, i.environment, i.subscription_key, now(), i.is_trial,
                   i.product_id, i.bundle_id, i.said_at, i.word
            FROM \(rows, as: "i")
            ORDER BY i.bucket, i.id
            ON CONFLICT (bucket, id) DO UPDATE SET
                checked_at = excluded.checked_at, is_trial = excluded.is_trial,
                product_id = coalesce(excluded.product_id, e.product_id),
                bundle_id = coalesce(excluded.bundle_id, e.bundle_id),
                word = CASE WHEN excluded.said_at >= coalesce(e.said_at, 'epoch') THEN excluded.word ELSE e.word END,
                said_at = greatest(excluded.said_at, e.said_at)
            """
    }

    private struct Present {
        var id: BillingID
        var one: ExternalSubscription
        /// Names under which it may have a contract, the present one first.
        var names: [SubscriptionName]
    }

    /// The subscriptions under their present names, without duplicates.
    private func present(
        _ subscriptions: [ExternalSubscription], publisher: PublisherID
    ) async throws -> [Present] {
        let histories = try await SubscriptionHistory.read(
            subscriptions.map {
                SubscriptionName(publisher: publisher, environment: $0.environment, originalTransactionID: $0.key)
            }
        ) { try await database.query($0) }
        var places: [BillingID: Int] = [:]
        var found: [Present] = []
        for (stated, history) in zip(subscriptions, histories) {
            let one = Present(
                id: BillingID(external: history.current), one: history.moved ?? stated,
                names: history.names(and: history.hasMoved ? [] : stated.statement.movesFrom))
            guard let place = places[one.id] else {
                places[one.id] = found.count
                found.append(one)
                continue
            }
            // Another check found the same subscription under an earlier name. The store's own statement counts.
            if found[place].one.statement == LedgerStatement() { found[place] = one }
        }
        return found
    }

    /// Bundle ids of other publishers' apps among these. As with notifications, an app belongs to the publishers that
    /// have keys for it. Reads all of a small table.
    func foreign(_ bundleIDs: [BundleID?], to publisher: PublisherID) async throws -> Set<BundleID> {
        let bundleIDs = Set(bundleIDs.compactMap(\.self)).sorted()
        guard !bundleIDs.isEmpty else { return [] }
        let rows = try await database.query(
            """
            SELECT k.app
            FROM api_keys k
            WHERE k.app = ANY (\(.textArray(bundleIDs))) AND k.app <> '' AND k.revoked_at IS NULL
            GROUP BY k.app
            HAVING bool_and(k.publisher <> \(.text(publisher)))
            """)
        return Set(try rows.map { try $0.get("app") })
    }

    /// Apple's subscriptions of a publisher that have this transaction as their first, which is their key, or as their
    /// newest. Indexes used: the primary key, and `ledgers_transaction`.
    func subscriptions(
        ofTransaction id: TransactionID, publisher: PublisherID
    ) async throws -> [ExternalSubscription] {
        try await database.query(
            """
            SELECT l.publisher, l.environment, l.subscription_key, l.state, l.bundle_id
            FROM ledgers l
            WHERE l.bucket = \(.int2(Int16(Bucket(of: publisher, id).number))) AND l.publisher = \(.text(publisher))
              AND l.environment = ANY (\(.textArray(Self.environments))) AND l.subscription_key = \(.text(id))
              AND l.status IS NOT NULL
            UNION
            SELECT l.publisher, l.environment, l.subscription_key, l.state, l.bundle_id
            FROM ledgers l
            WHERE l.publisher = \(.text(publisher)) AND l.transaction_id = \(.text(id)) AND l.status IS NOT NULL
            ORDER BY environment, subscription_key
            LIMIT 8
            """
        ).map { row in
            ExternalSubscription(
                try row.subscriptionName(), try StoredLedger.state(row), bundleID: try row.get("bundle_id"))
        }
    }
}

extension PostgresRow {
    /// The store's statement at the last check; nil if there was none.
    func checkedStatement() throws -> LedgerStatement? {
        try get("word", as: String?.self).map {
            try LedgerJSON.value(LedgerStatement.self, $0, column: "external_subscriptions.word")
        }
    }
}

extension LedgerStatement {
    /// Time of the newest statement in it.
    fileprivate var saidAt: Timestamp? {
        (periods.map(\.statedAt)
            + [renewal?.statedAt, end?.statedAt, movesTo?.statedAt, movedAt, isCurrentAt].compactMap(\.self)).max()
    }
}
