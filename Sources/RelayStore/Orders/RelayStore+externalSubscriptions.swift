import Postgres
public import RelayCore

extension RelayStore {
    /// In the order of their keys, as everybody locks them. An older word, or none, takes no newer one's place.
    private static let recordSQL = """
        INSERT INTO external_subscriptions AS e (
            bucket, id, publisher, platform, environment, subscription_key, checked_at, is_trial, product_id, bundle_id,
            said_at, word)
        SELECT i.bucket, i.id, $3, i.platform, i.environment, i.subscription_key, now(), i.is_trial, i.product_id,
               i.bundle_id, i.said_at, i.word
        FROM unnest($1::int2[], $2::text[], $4::text[], $5::text[], $6::text[], $7::bool[], $8::text[], $9::text[],
                    $10::timestamptz[], $11::text[])
             AS i(bucket, id, platform, environment, subscription_key, is_trial, product_id, bundle_id, said_at, word)
        ORDER BY i.bucket, i.id
        ON CONFLICT (bucket, id) DO UPDATE SET
            checked_at = excluded.checked_at, is_trial = excluded.is_trial,
            product_id = coalesce(excluded.product_id, e.product_id),
            bundle_id = coalesce(excluded.bundle_id, e.bundle_id),
            word = CASE WHEN excluded.said_at >= coalesce(e.said_at, 'epoch') THEN excluded.word ELSE e.word END,
            said_at = greatest(excluded.said_at, e.said_at)
        """

    /// Indexes used: the primary key, and `ledgers_transaction`.
    private static let ledgerSQL = """
        SELECT l.environment, l.subscription_key, l.state, l.bundle_id
        FROM ledgers l
        WHERE l.bucket = $1 AND l.publisher = $2 AND l.environment = ANY ($4::text[]) AND l.subscription_key = $3
          AND l.status IS NOT NULL
        UNION
        SELECT l.environment, l.subscription_key, l.state, l.bundle_id
        FROM ledgers l
        WHERE l.publisher = $2 AND l.transaction_id = $3 AND l.status IS NOT NULL
        ORDER BY 1, 2
        LIMIT 8
        """

    private static let environments = ["Production", "Sandbox", "Xcode", "LocalTesting"] as [StoreEnvironment]

    /// Keeps what was checked, so that an order can name it. What the store goes on with under another number stands under that one.
    ///
    /// - Returns: in the same order; each once. Without those of another publisher's apps.
    public func record(
        _ subscriptions: [ExternalSubscription], publisher: PublisherID
    ) async throws -> [CheckedSubscription] {
        var found = try await present(subscriptions, publisher: publisher)
        guard !found.isEmpty else { return [] }
        let foreign = try await foreign(found.map(\.one.bundleID), to: publisher)
        if !foreign.isEmpty {
            // What has a contract of this publisher's is this publisher's, whoever has the app by now.
            let contracts = try await contracts(of: found.flatMap(\.names))
            found.removeAll { one in
                one.one.bundleID.map(foreign.contains) == true && !one.names.contains { contracts[$0] != nil }
            }
            guard !found.isEmpty else { return [] }
        }
        let named = found
        let words = named.map { $0.one.word == LedgerWord() ? nil : $0.one.word }
        _ = try await pool.query(
            PostgresQuery(
                Self.recordSQL,
                [
                    .int2Array(named.map { Int16($0.id.bucket.number) }), .textArray(named.map(\.id.description)),
                    .text(publisher), .textArray(named.map(\.one.platform.rawValue)),
                    .textArray(named.map(\.one.environment)), .textArray(named.map(\.one.key)),
                    .boolArray(named.map(\.one.isTrial)), .textArray(named.map(\.one.productID)),
                    .textArray(named.map(\.one.bundleID)), .timestamptzArray(words.map { $0?.saidAt?.postgres }),
                    .textArray(words.map { $0.flatMap { LedgerJSON.text($0) } }),
                ]))
        let contracts = try await contracts(of: found.flatMap(\.names))
        return found.map { one in
            CheckedSubscription(
                id: one.id, platform: one.one.platform, contract: one.names.lazy.compactMap { contracts[$0] }.first)
        }
    }

    private struct Present {
        var id: BillingID
        var one: ExternalSubscription
        /// Under which it may have a contract, the present one first.
        var names: [SubscriptionName]
    }

    /// Each under the name that it goes by now, and once.
    private func present(
        _ subscriptions: [ExternalSubscription], publisher: PublisherID
    ) async throws -> [Present] {
        let trails = try await SubscriptionTrail.read(
            subscriptions.map {
                SubscriptionName(publisher: publisher, environment: $0.environment, originalTransactionID: $0.key)
            }
        ) { try await pool.query($0) }
        var places: [BillingID: Int] = [:]
        var found: [Present] = []
        for (told, trail) in zip(subscriptions, trails) {
            let one = Present(
                id: BillingID(external: trail.current), one: trail.moved ?? told,
                names: trail.names(and: trail.hasMoved ? [] : told.word.movesFrom))
            guard let place = places[one.id] else {
                places[one.id] = found.count
                found.append(one)
                continue
            }
            // Asked for by an earlier name and by its own: what the store says under its own counts.
            if found[place].one.word == LedgerWord() { found[place] = one }
        }
        return found
    }

    func contracts(of names: [SubscriptionName]) async throws -> [SubscriptionName: CheckedSubscription.Contract] {
        try ContractOwners.contracts(try await pool.query(ContractOwners.contracts(of: names)), of: names)
    }

    /// Those of the bundle ids that are known to be other publishers' apps.
    func foreign(_ bundleIDs: [BundleID?], to publisher: PublisherID) async throws -> Set<BundleID> {
        let bundleIDs = Set(bundleIDs.compactMap(\.self)).sorted()
        guard !bundleIDs.isEmpty else { return [] }
        return Set(try await pool.query(ContractOwners.foreign(bundleIDs, to: publisher)).map { try $0.get(0) })
    }

    /// Apple's subscriptions of a publisher that the ledger knows by this transaction: the first one, which names the subscription, or
    /// the newest. Under whichever number they go by now they stand once they are recorded.
    public func subscriptions(
        ofTransaction id: TransactionID, publisher: PublisherID
    ) async throws -> [ExternalSubscription] {
        try await pool.query(
            PostgresQuery(
                Self.ledgerSQL,
                [
                    .int2(Int16(Bucket(of: publisher, id).number)), .text(publisher), .text(id),
                    .textArray(Self.environments),
                ])
        ).map { row in
            let ledger = try row.get(2, as: String?.self).map {
                try LedgerJSON.value(SubscriptionLedger.self, $0, column: "ledgers.state")
            }
            let name = SubscriptionName(
                publisher: publisher, environment: try row.get(0), originalTransactionID: try row.get(1))
            return ExternalSubscription(name, ledger, bundleID: try row.get(3))
        }
    }
}

extension LedgerWord {
    /// When the last of it was said.
    fileprivate var saidAt: Timestamp? {
        (periods.map(\.toldAt) + [renewal?.toldAt, end?.toldAt, movesTo?.toldAt, isCurrentAt].compactMap(\.self)).max()
    }
}
