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

    /// Index used: the primary key.
    private static let contractsSQL = """
        SELECT c.external_subscription, c.contract, c.customer
        FROM unnest($1::int2[], $2::text[]) AS i(bucket, id)
        JOIN contract_subscriptions c ON c.bucket = i.bucket AND c.external_subscription = i.id
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

    private static let environments = ["Production", "Sandbox", "Xcode", "LocalTesting"]

    /// Keeps what was checked, so that an order can name it.
    ///
    /// - Returns: in the same order; each once.
    public func record(
        _ subscriptions: [ExternalSubscription], publisher: String
    ) async throws -> [CheckedSubscription] {
        var seen: Set<BillingID> = []
        let named = subscriptions.map { one in
            let name = SubscriptionName(
                publisher: publisher, environment: one.environment, originalTransactionID: one.key)
            return (id: BillingID(external: name), one: one)
        }.filter { seen.insert($0.id).inserted }
        guard !named.isEmpty else { return [] }
        let keys: [PostgresValue] = [
            .int2Array(named.map { Int16($0.id.bucket.number) }), .textArray(named.map(\.id.description)),
        ]
        let words = named.map(\.one).map { $0.word == LedgerWord() ? nil : $0.word }
        _ = try await pool.query(
            PostgresQuery(
                Self.recordSQL,
                keys + [
                    .text(publisher), .textArray(named.map(\.one.platform.rawValue)),
                    .textArray(named.map(\.one.environment)), .textArray(named.map(\.one.key)),
                    .boolArray(named.map(\.one.isTrial)), .textArray(named.map(\.one.productID)),
                    .textArray(named.map(\.one.bundleID)), .timestamptzArray(words.map { $0?.saidAt?.postgres }),
                    .textArray(words.map { $0.flatMap { LedgerJSON.text($0) } }),
                ]))
        var contracts: [BillingID: CheckedSubscription.Contract] = [:]
        for row in try await pool.query(PostgresQuery(Self.contractsSQL, keys)) {
            contracts[try row.billingID(0, "external_subscription")] = .init(
                id: try row.billingID(1, "contract"), customer: try row.billingID(2, "customer"))
        }
        return named.map {
            CheckedSubscription(id: $0.id, platform: $0.one.platform, contract: contracts[$0.id])
        }
    }

    /// Apple's subscriptions of a publisher that the ledger knows by this transaction: the first one, which names the subscription, or
    /// the newest.
    public func subscriptions(
        ofTransaction id: String, publisher: String
    ) async throws -> [ExternalSubscription] {
        let found = try await inLedger(id, publisher)
        var current: [ExternalSubscription] = []
        for (one, movedTo) in found {
            guard let movedTo else {
                current.append(one)
                continue
            }
            // It goes on under another number.
            current += try await inLedger(movedTo, publisher).map(\.0).filter {
                $0.environment == one.environment && $0.key == movedTo
            }
        }
        return current
    }

    private func inLedger(
        _ transaction: String, _ publisher: String
    ) async throws -> [(ExternalSubscription, movedTo: String?)] {
        try await pool.query(
            PostgresQuery(
                Self.ledgerSQL,
                [
                    .int2(Int16(Bucket(of: publisher, transaction).number)), .text(publisher), .text(transaction),
                    .textArray(Self.environments),
                ])
        ).map { row in
            let ledger = try row.get(2, as: String?.self).map {
                try LedgerJSON.value(SubscriptionLedger.self, $0, column: "ledgers.state")
            }
            let newest = ledger?.periods.values.max { $0.purchasedAt < $1.purchasedAt }
            let one = ExternalSubscription(
                key: try row.get(1), environment: try row.get(0), word: LedgerWord(), bundleID: try row.get(3),
                productID: newest?.productID, isTrial: newest?.isTrial)
            return (one, ledger?.movedTo)
        }
    }
}

extension LedgerWord {
    /// When the last of it was said.
    fileprivate var saidAt: Timestamp? {
        (periods.map(\.toldAt) + [renewal?.toldAt, end?.toldAt, movesTo?.toldAt, isCurrentAt].compactMap(\.self)).max()
    }
}
