import Postgres
public import RelayCore

extension RelayStore {
    /// Who is entitled now or is being decided on comes before what is over, and among equals the newest. Index used:
    /// `validations_customer`.
    private static let purchasesSQL = """
        SELECT DISTINCT ON (v.offer_id) \(validationColumns), clock_timestamp()
        FROM validations v
        WHERE v.customer = $1 AND v.publisher = $3 AND ($2::text IS NULL OR v.offer_id = $2)
        ORDER BY v.offer_id, v.status = 0 AND v.deadline > now() DESC, v.status = 1 DESC, v.accepted_at DESC
        LIMIT 1000
        """

    /// A subscription by the offer of its present product, with the columns of the validation that made its owner. Its state is its
    /// ledger's: `in_billing_retry` and `expired` give no access. Indexes used: `subscriptions_customer`, the ledgers' primary key.
    private static let subscriptionsSQL = """
        SELECT DISTINCT ON (s.offer_id)
               coalesce(s.validation_bucket, s.bucket), s.accepted_on - DATE 'epoch', s.id, s.publisher, s.app,
               ROW(s.sealed_by, s.email), ROW(s.sealed_by, s.customer), s.offer_id,
               CASE WHEN l.status IN (1, 2) THEN 1 ELSE 5 END::int2,
               CASE WHEN l.status IN (1, 2) THEN NULL ELSE coalesce(l.reason, 'expired') END,
               false, s.accepted_at, s.accepted_at, s.owned_since, coalesce(l.expires_at, s.expires_at), clock_timestamp()
        FROM subscriptions s
        JOIN ledgers l ON l.bucket = s.bucket AND l.publisher = s.publisher AND l.environment = s.environment
             AND l.subscription_key = s.subscription_key
        WHERE s.customer = $1 AND s.publisher = $3 AND ($2::text IS NULL OR s.offer_id = $2)
          AND l.status IS NOT NULL AND NOT l.has_moved
        ORDER BY s.offer_id, l.status IN (1, 2) DESC, s.accepted_at DESC
        LIMIT 1000
        """

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
        let parameters: [PostgresValue] = [.privateText(customer), .text(offer), .text(publisher)]
        var known: [OfferID: Validation] = [:]
        for row in try await pool.query(PostgresQuery(Self.purchasesSQL, parameters)) {
            let validation = try Self.validation(row)
            known[validation.offerID] = validation
        }
        let isAnswered =
            offer.flatMap { known[$0]?.status }.map { [.granted, .pending].contains($0) } ?? false
        if !isAnswered {
            for row in try await pool.query(PostgresQuery(Self.subscriptionsSQL, parameters)) {
                let validation = try Self.stored(row)
                let purchase = known[validation.offerID]
                // A purchase that is pending, granted, or knows better why it ended.
                if let purchase, [.granted, .pending].contains(purchase.status) || validation.status != .granted {
                    continue
                }
                known[validation.offerID] = validation
            }
        }
        return known.values.sorted {
            ($0.acceptedAt, $0.offerID) > ($1.acceptedAt, $1.offerID)
        }
    }
}
