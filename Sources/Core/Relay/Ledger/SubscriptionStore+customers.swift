import Postgres
public import RelayCore

/// An offer that Cleeng entitles a customer to, although no known purchase explains it. It may have been bought on the
/// web.
public struct FoundEntitlement: Sendable {
    public var offer: OfferID
    /// Nil: Cleeng states no end.
    public var until: Timestamp?
    /// When the entitlement read was sent.
    public var readAt: Timestamp

    public init(offer: OfferID, until: Timestamp?, readAt: Timestamp) {
        self.offer = offer
        self.until = until
        self.readAt = readAt
    }

    /// End of access; nil if Cleeng states none, or only the time of its own statement (``LedgerEnd/runs(statedAt:)``).
    fileprivate var expiresAt: Timestamp? { until.flatMap { $0 > readAt ? $0 : nil } }

    fileprivate var statement: LedgerStatement {
        LedgerStatement(
            cleeng: [offer: LedgerEnd(isOver: false, until: until, statedAt: readAt)],
            granted: LedgerGrant(offer: offer, at: readAt))
    }
}

/// The publisher to which a query about a customer refers.
public enum MeantPublisher: Sendable, Hashable {
    case one(PublisherID)
    /// No publisher has the given name.
    case unknown
    /// Ids of the possible publishers; empty for an unknown customer.
    case several([PublisherID])
}

extension SubscriptionStore {
    // The publisher is compared by `IS NOT DISTINCT FROM`: see `SubscriptionStore+entitlements.swift`.

    /// A customer's newest 64 subscriptions, and whether one of their purchases is pending. Indexes used:
    /// `validations_customer`, `subscriptions_customer`.
    public func owned(
        by customer: CustomerKey
    ) async throws -> (subscriptions: [SubscriptionName], hasPending: Bool) {
        let (id, publisher) = (PostgresValue.privateText(customer.customer), PostgresValue.text(customer.publisher))
        let rows = try await database.query(
            """
            SELECT NULL::text AS publisher, NULL::text AS environment, NULL::text AS subscription_key, true AS is_pending
            WHERE EXISTS (
                SELECT FROM validations v
                WHERE v.customer = \(id) AND v.publisher = \(publisher)
                  AND v.status = \(ValidationStatus.pending) AND v.deadline > now())
            UNION ALL
            (SELECT s.publisher, s.environment, s.subscription_key, false
             FROM subscriptions s
             WHERE s.customer = \(id) AND s.publisher IS NOT DISTINCT FROM \(publisher)
             ORDER BY s.accepted_at DESC
             LIMIT 64)
            """)
        let (pending, owned) = try rows.reduce(into: (false, [SubscriptionName]())) { found, row in
            if try row.get("is_pending") { found.0 = true } else { found.1.append(try row.subscriptionName()) }
        }
        return (owned, pending)
    }

    /// The publisher to which a query about a customer refers. Indexes used: `validations_customer`,
    /// `subscriptions_customer`.
    ///
    /// - Parameter named: nil: the only publisher, or the only one that has the customer.
    public func publisher(
        of customer: CustomerID, named: PublisherID?, in scope: OpsScope
    ) async throws -> MeantPublisher {
        let seen = try await relay.publishers.list(in: scope).map(\.id)
        if let named { return seen.contains(named) ? .one(named) : .unknown }
        if seen.count == 1 { return .one(seen[0]) }
        let known: [PublisherID] = try await database.query(
            """
            SELECT DISTINCT p.publisher
            FROM (SELECT v.publisher FROM validations v WHERE v.customer = \(.privateText(customer))
                  UNION ALL
                  SELECT s.publisher FROM subscriptions s WHERE s.customer = \(.privateText(customer))) p
            WHERE \(scope.includes("p.publisher"))
            ORDER BY p.publisher
            LIMIT 100
            """
        ).map { try $0.get(0) }
        return known.count == 1 ? .one(known[0]) : .several(known)
    }

    /// Stores Cleeng's entitlements as standalone subscriptions, for each offer without a running one. Each gets a
    /// ledger at once, so that it is evaluated again when Cleeng's statement ends.
    ///
    /// - Returns: number of stored offers.
    public func keep(
        _ found: [FoundEntitlement], of email: CustomerEmail, publisher: PublisherID
    ) async throws -> Int {
        guard !found.isEmpty, let day = memory.clock.now?.daysSince1970 else { return 0 }
        try await relay.offers.ready()
        var generator = SystemRandomNumberGenerator()
        let bucket = Bucket(of: publisher, email.customer)
        let named = found.map { one in
            let id = ValidationID(bucket: bucket, day: UInt16(clamping: day), using: &generator)
            return (found: one, id: id, name: SubscriptionName(found: id, of: publisher))
        }
        // The lock makes a concurrent call wait, so that it sees these rows.
        let holding: SQL = """
            SELECT FROM entitlement_reads
            WHERE bucket = \(.int2(Int16(bucket.number))) AND publisher = \(.text(publisher))
              AND customer = \(.privateText(email.customer))
            FOR UPDATE
            """
        let rows: SQLTable = [
            "bucket": .int2Array(named.map { Int16($0.name.bucket.number) }),
            "subscription_key": .textArray(named.map(\.name.originalTransactionID)),
            "offer_id": .textArray(named.map(\.found.offer)),
            "until": .timestamptzArray(named.map { $0.found.expiresAt?.postgres }),
            "day": .int4Array(named.map { Int32($0.id.day) }), "id": .uuidArray(named.map(\.id.uuid)),
        ]
        let inserting = Self.own(rows, email, publisher, validationBucket: bucket)
        let (count, changed, closing) = try await database.retryingConflicts {
            try await database.withTransaction { transaction in
                _ = try await transaction.query(holding)
                let kept = Set(try await transaction.query(inserting).map { try $0.get(0, as: TransactionID.self) })
                let messages = named.filter { kept.contains($0.name.originalTransactionID) }.map { one in
                    LedgerMessage(
                        one.name, one.found.statement,
                        note: .init(event: "found", detail: "Cleeng: entitled to \(one.found.offer)"))
                }
                let ledgers = LedgerTransaction(messages, memory: memory)
                let closing = try ledgers.apply(try await transaction.pipeline(ledgers.opening)[...]).closing()
                let changed = try closing.changed(try await transaction.commit(with: closing.queries))
                return (kept.count, changed, closing)
            }
        }
        relay.publish(changed, closing)
        return count
    }

    /// Inserts the subscriptions. Indexes used: `subscriptions_customer`, the ledgers' primary key,
    /// `validations_customer`.
    private static func own(
        _ rows: SQLTable, _ email: CustomerEmail, _ publisher: PublisherID, validationBucket: Bucket
    ) -> SQL {
        let customer = PostgresValue.privateText(email.customer)
        let (granted, pending) = (ValidationStatus.granted, ValidationStatus.pending)
        return """
            INSERT INTO subscriptions (
                bucket, publisher, environment, subscription_key, customer, email, application_username, app, offer_id,
                accepted_on, id, accepted_at, owned_since, expires_at, validation_bucket, sealed_by)
            SELECT i.bucket, \(.text(publisher)), \(.text(StoreEnvironment.unknown)), i.subscription_key, \(customer),
                   \(.privateText(email.sent)), \(.privateText(Username(email.customer.text))), '', i.offer_id,
                   DATE 'epoch' + i.day, i.id, now(), now(), i.until, \(.int2(Int16(validationBucket.number))), \(.keyOfTexts)
            FROM \(rows, as: "i")
            WHERE NOT EXISTS (
                    SELECT FROM subscriptions s
                    CROSS JOIN LATERAL (SELECT * FROM ledgers l WHERE \(.sameSubscription("l", "s")) OFFSET 0) AS l
                    WHERE s.customer = \(customer) AND s.publisher IS NOT DISTINCT FROM \(.text(publisher))
                      AND s.offer_id = i.offer_id AND \(SubscriptionState.runs) AND NOT l.has_moved)
              AND NOT EXISTS (
                    SELECT FROM validations v
                    WHERE v.customer = \(customer) AND v.publisher = \(.text(publisher)) AND v.offer_id = i.offer_id
                      AND (v.status = \(granted) OR v.status = \(pending) AND v.deadline > now()))
            RETURNING subscription_key
            """
    }
}
