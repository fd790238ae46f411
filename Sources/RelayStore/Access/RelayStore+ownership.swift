import Postgres
public import RelayCore

extension RelayStore {
    /// Indexes used: the primary key, `validations_subscription`.
    private static let ownershipSQL = """
        SELECT ROW(s.sealed_by, s.customer),
               coalesce(s.offer_id = $5, false) OR EXISTS (
                   SELECT FROM validations v
                   WHERE v.bucket = $1 AND v.subscription_key = $4 AND v.publisher = $2 AND v.environment = $3
                     AND v.offer_id = $5 AND v.status IN (1, 5))
        FROM (SELECT) AS one
        LEFT JOIN subscriptions s ON s.bucket = $1 AND s.publisher = $2 AND s.environment = $3 AND s.subscription_key = $4
        """

    /// Who owns a subscription, and whether an offer was granted on it.
    public func ownership(
        of name: SubscriptionName, offer: OfferID
    ) async throws -> (owner: CustomerID?, holdsOffer: Bool) {
        let row = try await pool.query(
            PostgresQuery(
                Self.ownershipSQL,
                [
                    .int2(Int16(name.bucket.number)), .text(name.publisher), .text(name.environment),
                    .text(name.originalTransactionID), .text(offer),
                ])
        ).first
        guard let row else { return (nil, false) }
        return (try row.open(0), try row.get(1))
    }
}
