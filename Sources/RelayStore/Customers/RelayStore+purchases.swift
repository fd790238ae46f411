import Postgres
import RelayCore

extension RelayStore {
    /// Of each customer at most so many subscriptions are read, the newest.
    private static let most = 1_000

    /// What stands under these names. A purchase whose ledger has not heard of it yet is known by its own receipt. Indexes used:
    /// `subscriptions_username`, primary keys.
    private static let sql = """
        SELECT i.ordinal, s.environment, s.subscription_key, s.offer_id, s.expires_at, l.status, v.period, v.status,
               v.transaction_id, clock_timestamp(), s.product_id, \(StoredLedger.columns)
        FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS i(publisher, username, ordinal)
        CROSS JOIN LATERAL (
            SELECT * FROM subscriptions s
            WHERE s.publisher = i.publisher AND s.application_username = i.username
            ORDER BY s.owned_since DESC
            LIMIT \(most)) AS s
        LEFT JOIN ledgers l ON l.bucket = s.bucket AND l.publisher = s.publisher AND l.environment = s.environment
             AND l.subscription_key = s.subscription_key
        LEFT JOIN validations v ON v.bucket = coalesce(s.validation_bucket, s.bucket) AND v.accepted_on = s.accepted_on
             AND v.id = s.id
        """

    /// A customer's purchases, from memory where they were read lately and nothing has changed since.
    ///
    /// - Parameter leeway: how long after its end a subscription that will renew is waited for.
    /// - Returns: no purchases for a customer of whom nothing is known.
    public func purchases(of name: CustomerName, leeway: Duration) async throws -> CustomerPurchases {
        if let known = told.answer(name) { return known }
        let ticket = told.ticket()
        let read = try await purchases(of: [name], leeway: leeway)
        guard let known = read.first else { throw StoreError.missingRow("a customer's purchases") }
        let longest = known.changesAt.map { $0 - known.readAt }
        if longest.map({ $0 > .zero }) ?? true {
            told.keep(known, for: name, read: ticket, longest: longest ?? PurchaseCache.keepFor)
        }
        return known
    }

    /// From memory alone: nil does not mean that there are none.
    public func knownPurchases(of name: CustomerName) -> CustomerPurchases? { told.answer(name) }

    /// The same of several, in their order, from the database.
    public func purchases(of names: [CustomerName], leeway: Duration) async throws -> [CustomerPurchases] {
        guard !names.isEmpty else { return [] }
        return try Self.purchases(of: names, try await pool.query(Self.purchasesQuery(names)), leeway: leeway)
    }

    static func purchasesQuery(_ names: [CustomerName]) -> PostgresQuery {
        PostgresQuery(sql, [.textArray(names.map(\.publisher)), .privateTextArray(names.map(\.username))])
    }

    /// - Parameter rows: the answer to ``purchasesQuery(_:)``.
    static func purchases(
        of names: [CustomerName], _ rows: PostgresRows, leeway: Duration
    ) throws -> [CustomerPurchases] {
        var found = names.map { _ in (purchases: [CustomerPurchase](), changesAt: Timestamp?.none) }
        var readAt = Timestamp(microseconds: 0)
        for row in rows {
            let place = try row.get(0, as: Int.self) - 1
            readAt = try row.timestamp(9)
            let name = SubscriptionName(
                publisher: names[place].publisher, environment: try row.get(1), originalTransactionID: try row.get(2))
            let one = try subscription(name, row, at: readAt, leeway: leeway)
            found[place].purchases += one.purchases
            found[place].changesAt = [found[place].changesAt, one.changesAt].compactMap(\.self).min()
        }
        return zip(names, found).map { name, found in
            CustomerPurchases(
                name: name, purchases: found.purchases, readAt: readAt, changesAt: found.changesAt)
        }
    }

    private static func subscription(
        _ name: SubscriptionName, _ row: PostgresRow, at now: Timestamp, leeway: Duration
    ) throws -> (purchases: [CustomerPurchase], changesAt: Timestamp?) {
        var ledger = try StoredLedger.read(row)
        if let period = try row.get(6, as: String?.self) {
            let period = try LedgerJSON.value(LedgerPeriod.self, period, column: "validations.period")
            ledger.hear(LedgerWord(periods: [period]))
        }
        // A moved subscription is shown under its new id. A grant that stands alone is no purchase in a store.
        guard ledger.movedTo == nil, !name.standsAlone else { return ([], nil) }
        let shown = try row.get(5, as: Int16?.self).flatMap(SubscriptionStanding.Status.init)
        let purchases = ledger.purchases(of: name, shown: shown, at: now, leeway: leeway)
        guard purchases.isEmpty else {
            let next = ledger.standing(at: now, leeway: leeway)?.nextLookAt
            return (purchases, next.flatMap { $0 > now ? $0 : nil })
        }
        guard let product = try row.get(10, as: ProductID?.self) ?? ProductID(row.get(3, as: String?.self)) else {
            return ([], nil)
        }
        return ([try unread(name, product: product, row, at: now)], nil)
    }

    /// A purchase that nobody can read, or of which nothing may be believed but that Cleeng grants on it: it stands by what is known,
    /// the offer at least. The dates are the store's or none.
    private static func unread(
        _ name: SubscriptionName, product: ProductID, _ row: PostgresRow, at now: Timestamp
    ) throws -> CustomerPurchase {
        let platform = StorePlatform(subscriptionKey: name.originalTransactionID)
        let purchaseID = platform.name(ofKey: name.originalTransactionID)
        let status = try row.get(7, as: Int16?.self).flatMap(ValidationStatus.init)
        let shown = try row.get(5, as: Int16?.self).flatMap(SubscriptionStanding.Status.init)
        let isOver =
            try shown.map { !$0.grantsAccess } ?? status.map { $0 == .revoked }
            ?? row.timestampIfSet(4).map { $0 <= now } ?? false
        return CustomerPurchase(
            platform: platform, productID: product, purchaseID: purchaseID,
            transactionID: try row.get(8, as: TransactionID?.self) ?? purchaseID, isSandbox: name.isSandbox,
            isExpired: isOver)
    }
}
