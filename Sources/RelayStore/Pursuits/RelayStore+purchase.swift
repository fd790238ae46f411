import Postgres
import RelayCore

extension RelayStore {
    private static let purchaseSQL = """
        SELECT v.email, v.offer_id, v.transaction_id, v.app_type, v.ip_address, v.coupon_code, r.is_text, r.body
        FROM validations v
        JOIN receipts r ON r.bucket = v.bucket AND r.accepted_on = v.accepted_on AND r.id = v.id
        WHERE v.bucket = $1 AND v.accepted_on = DATE 'epoch' + $2::int4 AND v.id = $3
        """

    /// What the upstream is to be sent, receipt included: read when it is sent and not before, since receipts are large.
    public func purchase(_ id: ValidationID) async throws -> Purchase {
        guard let row = try await pool.query(PostgresQuery(Self.purchaseSQL, id.key)).first else {
            throw StoreError.missingRow("the receipt")
        }
        return Purchase(
            email: try row.get(0), offerID: try row.get(1), transactionID: try row.get(2), appType: try row.get(3),
            ipAddress: try row.get(4), couponCode: try row.get(5),
            receipt: .init(isText: try row.get(6), bytes: try row.get(7)))
    }
}
