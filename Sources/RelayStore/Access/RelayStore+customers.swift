import Foundation
import Postgres
public import RelayCore

/// An offer that Cleeng entitles a customer to, and that nothing opens which they are known to have: bought on the web, say.
public struct FoundEntitlement: Sendable {
    public var offer: OfferID
    /// Nil: Cleeng names no end.
    public var until: Timestamp?
    /// When the read was sent.
    public var readAt: Timestamp

    public init(offer: OfferID, until: Timestamp?, readAt: Timestamp) {
        self.offer = offer
        self.until = until
        self.readAt = readAt
    }

    /// Nil too where Cleeng does not say when it ends (``LedgerEnd/runs(statedAt:)``).
    fileprivate var expiresAt: Timestamp? { until.flatMap { $0 > readAt ? $0 : nil } }

    fileprivate var word: LedgerWord {
        LedgerWord(
            cleeng: [offer: LedgerEnd(isOver: false, until: until, toldAt: readAt)],
            granted: LedgerGrant(offer: offer, at: readAt))
    }
}

/// Which publisher is meant.
public enum MeantPublisher: Sendable, Hashable {
    case one(PublisherID)
    /// None goes by the name that was given.
    case unknown
    /// By id; empty for nobody's customer.
    case several([PublisherID])
}

extension RelayStore {
    /// Indexes used: `validations_customer`, `subscriptions_customer`.
    private static let customerSQL = """
        SELECT NULL::text, NULL::text, true
        WHERE EXISTS (
            SELECT FROM validations v
            WHERE v.customer = $1 AND v.publisher = $2 AND v.status = 0 AND v.deadline > now())
        UNION ALL
        (SELECT s.environment, s.subscription_key, false
         FROM subscriptions s
         WHERE s.customer = $1 AND s.publisher = $2
         ORDER BY s.accepted_at DESC
         LIMIT 64)
        """

    /// What a customer owns, the newest 64, and whether a purchase of theirs is pending.
    public func standing(
        of customer: CustomerKey
    ) async throws -> (subscriptions: [SubscriptionName], hasPending: Bool) {
        let rows = try await pool.query(
            PostgresQuery(Self.customerSQL, [.privateText(customer.customer), .text(customer.publisher)]))
        var (names, hasPending): ([SubscriptionName], Bool) = ([], false)
        for row in rows {
            guard try !row.get(2, as: Bool.self) else {
                hasPending = true
                continue
            }
            names.append(
                SubscriptionName(
                    publisher: customer.publisher, environment: try row.get(0), originalTransactionID: try row.get(1)))
        }
        return (names, hasPending)
    }

    /// Indexes used: `validations_customer`, `subscriptions_customer`.
    private static let publishersSQL = """
        SELECT DISTINCT p.publisher
        FROM (SELECT v.publisher FROM validations v WHERE v.customer = $1
              UNION ALL
              SELECT s.publisher FROM subscriptions s WHERE s.customer = $1) p
        WHERE \(OpsScope.sql("p.publisher", 2))
        ORDER BY p.publisher
        LIMIT 100
        """

    /// Which publisher is meant by whoever asks about a customer.
    ///
    /// - Parameter named: nil: the only one that there is, or the only one whose customer it is.
    public func publisher(
        of customer: CustomerID, named: PublisherID?, in scope: OpsScope
    ) async throws -> MeantPublisher {
        let seen = try await listPublishers(in: scope).map(\.id)
        if let named { return seen.contains(named) ? .one(named) : .unknown }
        if seen.count == 1 { return .one(seen[0]) }
        let known: [PublisherID] = try await pool.query(
            PostgresQuery(Self.publishersSQL, [.privateText(customer), scope.parameter])
        ).map { try $0.get(0) }
        return known.count == 1 ? .one(known[0]) : .several(known)
    }

    /// Whoever keeps something of a customer holds the row of their reads: of two at once the second sees what the first has kept.
    private static let holdCustomerSQL = """
        SELECT FROM entitlement_reads WHERE bucket = $1 AND publisher = $2 AND customer = $3 FOR UPDATE
        """

    /// Indexes used: `subscriptions_customer`, the ledgers' primary key, `validations_customer`.
    private static let foundSQL = """
        INSERT INTO subscriptions (
            bucket, publisher, environment, subscription_key, customer, email, application_username, app, offer_id,
            accepted_on, id, accepted_at, owned_since, expires_at, validation_bucket, sealed_by)
        SELECT i.bucket, $1, $2, i.subscription_key, $3, $4, $5, '', i.offer_id, DATE 'epoch' + i.day, i.id, now(), now(),
               i.until, $13, $6
        FROM unnest($7::int2[], $8::text[], $9::text[], $10::timestamptz[], $11::int4[], $12::uuid[])
             AS i(bucket, subscription_key, offer_id, until, day, id)
        WHERE NOT EXISTS (
                SELECT FROM subscriptions s
                JOIN ledgers l ON l.bucket = s.bucket AND l.publisher = s.publisher AND l.environment = s.environment
                     AND l.subscription_key = s.subscription_key
                WHERE s.customer = $3 AND s.publisher = $1 AND s.offer_id = i.offer_id AND l.status IN (1, 2)
                  AND NOT l.has_moved)
          AND NOT EXISTS (
                SELECT FROM validations v
                WHERE v.customer = $3 AND v.publisher = $1 AND v.offer_id = i.offer_id
                  AND (v.status = 1 OR v.status = 0 AND v.deadline > now()))
        RETURNING subscription_key
        """

    /// Keeps what Cleeng entitles a customer to as a subscription that stands alone, for each offer that nothing running opens. It has
    /// a ledger at once, so that somebody looks again when Cleeng's word ends.
    ///
    /// - Returns: of how many offers.
    public func keep(
        _ found: [FoundEntitlement], of email: CustomerEmail, publisher: PublisherID, leeway: Duration
    ) async throws -> Int {
        guard !found.isEmpty, let day = clock.now?.daysSince1970 else { return 0 }
        var generator = SystemRandomNumberGenerator()
        let bucket = Bucket(of: publisher, email.customer)
        let named = found.map { one in
            let id = ValidationID(bucket: bucket, day: UInt16(clamping: day), using: &generator)
            return (found: one, id: id, name: SubscriptionName(found: id, of: publisher))
        }
        let holding = PostgresQuery(
            Self.holdCustomerSQL, [.int2(Int16(bucket.number)), .text(publisher), .privateText(email.customer)])
        let inserting = PostgresQuery(
            Self.foundSQL,
            [
                .text(publisher), .text(StoreEnvironment.unknown), .privateText(email.customer),
                .privateText(email.sent), .privateText(Username(email.customer.text)), .keyOfTexts,
                .int2Array(named.map { Int16($0.name.bucket.number) }),
                .textArray(named.map(\.name.originalTransactionID)), .textArray(named.map(\.found.offer)),
                .timestamptzArray(named.map { $0.found.expiresAt?.postgres }),
                .int4Array(named.map { Int32($0.id.day) }), .uuidArray(named.map(\.id.uuid)),
                .int2(Int16(bucket.number)),
            ])
        let (count, changed, closing) = try await retryingDeadlock {
            try await pool.withTransaction { transaction in
                _ = try await transaction.query(holding)
                let kept = Set(try await transaction.query(inserting).map { try $0.get(0, as: TransactionID.self) })
                let messages = named.filter { kept.contains($0.name.originalTransactionID) }.map { one in
                    LedgerMessage(
                        one.name, one.found.word,
                        note: .init(event: "found", detail: "Cleeng: entitled to \(one.found.offer)"))
                }
                let hearing = LedgerHearing(messages, instance: instance, leeway: leeway, catalogue: catalogue)
                let heard = try hearing.hear(try await transaction.pipeline(hearing.opening)[...])
                let closing = hearing.closing(heard)
                let changed = try closing.changed(try await transaction.commit(with: closing.queries))
                return (kept.count, changed, closing)
            }
        }
        publish(changed, closing)
        return count
    }
}
