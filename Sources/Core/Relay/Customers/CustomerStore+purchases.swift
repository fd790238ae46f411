import Postgres
public import RelayCore

/// Cached purchases of customers, with their JSON.
typealias PurchaseCache = RecentCache<CustomerName, CustomerPurchases>

extension PurchaseCache {
    convenience init() { self.init(capacity: 2_048) }
}

extension CustomerStore {
    /// Bound of the subscriptions read for a customer, the newest first.
    private static let most = 1_000

    /// A customer's purchases, from the cache if it has them.
    ///
    /// - Returns: an empty list for an unknown customer.
    public func purchases(of name: CustomerName) async throws -> CustomerPurchases {
        if let known = memory.customerPurchases.answer(name) { return known }
        let ticket = memory.customerPurchases.ticket()
        let read = try await purchases(of: [name])
        guard let known = read.first else { throw StoreError.missingRow("a customer's purchases") }
        let longest = known.changesAt.map { $0 - known.readAt }
        if longest.map({ $0 > .zero }) ?? true {
            memory.customerPurchases.keep(known, for: name, read: ticket, longest: longest ?? PurchaseCache.keepFor)
        }
        return known
    }

    /// Purchases from the cache alone. Nil does not mean that there are none.
    public func knownPurchases(of name: CustomerName) -> CustomerPurchases? { memory.customerPurchases.answer(name) }

    /// Purchases of several customers from the database, in the order of the names.
    public func purchases(of names: [CustomerName]) async throws -> [CustomerPurchases] {
        guard !names.isEmpty else { return [] }
        return try purchases(of: names, try await database.query(Self.purchasesQuery(names)))
    }

    /// Selects subscriptions with their ledgers, and the receipts' periods, which the ledger may lack. Indexes used:
    /// `subscriptions_username`, primary keys.
    static func purchasesQuery(_ names: [CustomerName]) -> SQL {
        """
        SELECT i.ordinal, s.publisher, s.environment, s.subscription_key, s.offer_id, s.expires_at, s.product_id,
               l.status AS shown, v.period, v.status, v.transaction_id, clock_timestamp() AS now,
               s.owner_no, \(StoredLedger.columns)
        FROM \(.customers(names), as: "i", ordinal: "ordinal")
        CROSS JOIN LATERAL (
            SELECT * FROM subscriptions s
            WHERE s.publisher = i.publisher AND s.application_username = i.username
            ORDER BY s.owned_since DESC
            LIMIT \(unescaped: String(most))) AS s
        LEFT JOIN LATERAL (SELECT * FROM ledgers l WHERE \(.sameSubscription("l", "s")) OFFSET 0) AS l ON true
        LEFT JOIN LATERAL (
            SELECT * FROM validations v
            WHERE v.bucket = coalesce(s.validation_bucket, s.bucket) AND v.accepted_on = s.accepted_on AND v.id = s.id
            OFFSET 0) AS v ON true
        """
    }

    /// - Parameter rows: the rows of ``purchasesQuery(_:)``.
    func purchases(of names: [CustomerName], _ rows: PostgresRows) throws -> [CustomerPurchases] {
        var found = names.map { _ in (purchases: [CustomerPurchase](), changesAt: Timestamp?.none) }
        var readAt = Timestamp(microseconds: 0)
        // A subscription under a former id is shown to the customer who has the present one.
        let owned = try rows.reduce(into: names.map { _ in Set<SubscriptionName>() }) { owned, row in
            owned[try row.get("ordinal", as: Int.self) - 1].insert(try row.subscriptionName())
        }
        for row in rows {
            let place = try row.get("ordinal", as: Int.self) - 1
            readAt = try row.timestamp("now")
            let one = try subscription(row, among: owned[place], at: readAt)
            found[place].purchases += one.purchases
            found[place].changesAt = [found[place].changesAt, one.changesAt].compactMap(\.self).min()
        }
        return zip(names, found).map { name, found in
            CustomerPurchases(name: name, purchases: found.purchases, readAt: readAt, changesAt: found.changesAt)
        }
    }

    private func subscription(
        _ row: PostgresRow, among owned: Set<SubscriptionName>, at now: Timestamp
    ) throws -> (purchases: [CustomerPurchase], changesAt: Timestamp?) {
        let name = try row.subscriptionName()
        var ledger = try StoredLedger.read(row, ownerNo: row.get("owner_no"))
        ledger.apply(LedgerStatement(periods: try [LedgerPeriod](stored: row.get("period"))))
        // A standalone grant is not a purchase in a store.
        guard !name.standsAlone else { return ([], nil) }
        if let present = ledger.movedTo {
            return (owned.contains(name.under(present)) ? ledger.formerPurchases(of: name) : [], nil)
        }
        let shown = try row.get("shown", as: Int16?.self).flatMap(SubscriptionState.Status.init)
        let purchases = ledger.purchases(of: name, shown: shown, at: now, leeway: memory.leeway)
        guard purchases.isEmpty else {
            let next = [ledger.state(at: now, leeway: memory.leeway)?.nextLookAt, ledger.nextItemEnd(after: now)]
            return (purchases, next.compactMap(\.self).filter { $0 > now }.min())
        }
        guard
            let product = try row.get("product_id", as: ProductID?.self)
                ?? ProductID(row.get("offer_id", as: String?.self))
        else { return ([], nil) }
        return ([try Self.unread(name, product: product, row, at: now)], nil)
    }

    /// A purchase whose receipt is unreadable or unverified, although Cleeng may grant it. Made of the stored columns,
    /// at least the offer. Only the store's dates are used.
    private static func unread(
        _ name: SubscriptionName, product: ProductID, _ row: PostgresRow, at now: Timestamp
    ) throws -> CustomerPurchase {
        let platform = name.platform
        let purchaseID = platform.name(ofKey: name.originalTransactionID)
        let status = try row.get("status", as: Int16?.self).flatMap(ValidationStatus.init)
        let shown = try row.get("shown", as: Int16?.self).flatMap(SubscriptionState.Status.init)
        let isOver =
            try shown.map { !$0.grantsAccess } ?? status.map { $0 == .revoked }
            ?? row.timestampIfSet("expires_at").map { $0 <= now } ?? false
        return CustomerPurchase(
            platform: platform, productID: product, purchaseID: purchaseID,
            transactionID: try row.get("transaction_id", as: TransactionID?.self) ?? purchaseID,
            isSandbox: name.isSandbox, isExpired: isOver)
    }
}
