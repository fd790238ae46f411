import Postgres
public import RelayCore

extension SubscriptionStore {
    /// Selects one validation per offer: a grant comes before what is pending, that before what is over, and newer ones
    /// before older. Index used: `validations_customer`.
    private static func purchases(of customer: CustomerID, _ offer: OfferID?, _ publisher: PublisherID) -> SQL {
        """
        SELECT DISTINCT ON (v.offer_id) \(Validation.columns), clock_timestamp() AS now
        FROM validations v
        WHERE v.customer = \(.privateText(customer)) AND v.publisher = \(.text(publisher))
          AND (\(.text(offer)) IS NULL OR v.offer_id = \(.text(offer)))
        ORDER BY v.offer_id, v.status = \(ValidationStatus.granted) DESC,
                 v.status = \(ValidationStatus.pending) AND v.deadline > now() DESC, v.accepted_at DESC
        LIMIT 1000
        """
    }

    /// A subscription by the offer of its present product, with the columns of the validation that made its owner. Its state is its
    /// ledger's: `in_billing_retry` and `expired` give no access. Indexes used: `subscriptions_customer`, the ledgers' primary key. The
    /// publisher is compared by `IS NOT DISTINCT FROM`, which no index serves: where nobody had analysed the table all subscriptions of
    /// the publisher were read.
    private static func subscriptions(of customer: CustomerID, _ offer: OfferID?, _ publisher: PublisherID) -> SQL {
        """
        SELECT DISTINCT ON (s.offer_id)
               coalesce(s.validation_bucket, s.bucket) AS bucket, s.accepted_on - DATE 'epoch' AS day, s.id, s.publisher, s.app,
               ROW(s.sealed_by, s.email) AS email, ROW(s.sealed_by, s.customer) AS customer, s.offer_id,
               CASE WHEN \(SubscriptionStanding.runs) THEN \(ValidationStatus.granted)
                    ELSE \(ValidationStatus.revoked) END::int2 AS status,
               CASE WHEN \(SubscriptionStanding.runs) THEN NULL ELSE coalesce(l.reason, 'expired') END AS reason,
               false AS late, s.accepted_at, s.accepted_at AS deadline, s.owned_since AS settled_at,
               coalesce(l.expires_at, s.expires_at) AS expires_at
        FROM subscriptions s
        CROSS JOIN LATERAL (SELECT * FROM ledgers l WHERE \(.sameSubscription("l", "s")) OFFSET 0) AS l
        WHERE s.customer = \(.privateText(customer)) AND s.publisher IS NOT DISTINCT FROM \(.text(publisher))
          AND (\(.text(offer)) IS NULL OR s.offer_id = \(.text(offer)))
          AND l.status IS NOT NULL AND NOT l.has_moved
        ORDER BY s.offer_id, \(SubscriptionStanding.runs) DESC, s.accepted_at DESC
        LIMIT 1000
        """
    }

    /// Bounds the list of one customer's offers.
    private static let mostOffers = 100

    /// Whether a customer is entitled to an offer now, by the newest purchase or subscription in any app of the publisher's.
    ///
    /// - Returns: nil where nothing is known of the two.
    public func entitlement(
        of customer: CustomerID, to offer: OfferID, publisher: PublisherID
    ) async throws -> Validation? {
        try await entitlements(of: customer, offer, publisher).first
    }

    /// The same of every offer that is known of the customer, the newest first.
    public func entitlements(of customer: CustomerID, publisher: PublisherID) async throws -> [Validation] {
        Array(try await entitlements(of: customer, nil, publisher).prefix(Self.mostOffers))
    }

    private func entitlements(
        of customer: CustomerID, _ offer: OfferID?, _ publisher: PublisherID
    ) async throws -> [Validation] {
        var known: [OfferID: Validation] = [:]
        for row in try await database.query(Self.purchases(of: customer, offer, publisher)) {
            let validation = try PurchaseStore.validation(row)
            known[validation.offerID] = validation
        }
        if offer.flatMap({ known[$0]?.status }) != .granted {
            for row in try await database.query(Self.subscriptions(of: customer, offer, publisher)) {
                let validation = try PurchaseStore.stored(row)
                let purchase = known[validation.offerID]
                // A purchase that is granted or pending, or that knows better why it ended. What runs wins over what is pending.
                if let purchase, purchase.status == .granted || validation.status != .granted { continue }
                known[validation.offerID] = validation
            }
        }
        return known.values.sorted {
            ($0.acceptedAt, $0.offerID) > ($1.acceptedAt, $1.offerID)
        }
    }

    /// What a subscription is held for, as ``OfferHolding`` says. Indexes used: the primary key, `validations_subscription`.
    public func holding(of name: SubscriptionName, offer: OfferID) async throws -> OfferHolding {
        let row = try await database.query(
            """
            SELECT bool_or(o.offer_id = \(.text(offer))) AS same
            FROM (
                SELECT s.offer_id FROM subscriptions s WHERE \(name.isKey(of: "s"))
                UNION ALL
                SELECT v.offer_id FROM validations v WHERE \(name.isKey(of: "v")) AND \(Validation.wasGranted)
            ) AS o
            """
        ).first
        guard let same = try row?.get("same", as: Bool?.self) else { return .nothing }
        return same ? .offer : .others
    }
}

/// What a subscription is owned for, or was granted for.
public enum OfferHolding: Sendable {
    case nothing
    /// The offer that was asked about, among others or alone.
    case offer
    case others
}
