import Postgres
import RelayCore

extension RelayStore {
    private static let purchaseSQL = """
        SELECT ROW(v.sealed_by, v.email), v.offer_id, v.transaction_id, v.app_type, ROW(v.sealed_by, v.ip_address),
               v.coupon_code, v.cleeng_customer, r.is_text, ROW(r.sealed_by, r.body), v.driver
        FROM validations v
        LEFT JOIN receipts r ON $4 AND r.bucket = v.bucket AND r.accepted_on = v.accepted_on AND r.id = v.id
        WHERE v.bucket = $1 AND v.accepted_on = DATE 'epoch' + $2::int4 AND v.id = $3 AND (r.id IS NOT NULL OR NOT $4)
        """

    /// What the upstream is to be sent: read when it is sent and not before, since receipts are large.
    public func purchase(_ id: ValidationID, by driver: PurchaseDriver) async throws -> Purchase {
        let query = PostgresQuery(Self.purchaseSQL, id.key + [.bool(driver.sendsReceipt)])
        guard let row = try await pool.query(query).first else { throw StoreError.missingRow("the receipt") }
        return Purchase(
            email: try row.open(0), offerID: try row.get(1), transactionID: try row.get(2), appType: try row.get(3),
            ipAddress: try row.open(4), couponCode: try row.get(5), proof: try Self.proof(row, driver))
    }

    private static func proof(_ row: PostgresRow, _ driver: PurchaseDriver) throws -> Purchase.Proof {
        guard driver.sendsReceipt else {
            guard let customer = try row.get(6, as: Int64?.self) else {
                throw StoreError.missingRow("the customer's number at Cleeng")
            }
            return .transaction(cleengCustomer: customer)
        }
        let receipt = Acceptance.Receipt(isText: try row.get(7), bytes: try row.open(8))
        func decoded<Receipt: Decodable>(_ type: Receipt.Type) throws -> Receipt {
            try LedgerJSON.value(type, String(decoding: receipt.bytes.value, as: UTF8.self), column: "receipts.body")
        }
        switch PurchaseDriver(rawValue: try row.get(9, as: Int16.self)) {
        case .google: return .store(.google(try decoded(StoreReceipt.Google.self)))
        case .amazon: return .store(.amazon(try decoded(StoreReceipt.Amazon.self)))
        // One whose transaction was sent is by its receipt where that is what is asked for.
        case .receipt, .storekit2, nil: return .receipt(receipt)
        }
    }
}
