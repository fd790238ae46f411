import Postgres
public import RelayCore

/// The data of a purchase that Cleeng receives.
public struct StoredPurchase: Sendable {
    /// Proof of the purchase.
    public enum Proof: Sendable {
        case receipt(Acceptance.Receipt)
        /// Receipt of another store, as the app sent it.
        case store(StoreReceipt)
        /// The App Store's transaction, for the customer with this number at Cleeng.
        case transaction(cleengCustomer: Int64)
        /// Google Play's purchase, for the customer with this number at Cleeng.
        case google(ExternalStoreQuery, cleengCustomer: Int64)

        /// How the store is asked about the purchase; nil for the App Store's, which are signed.
        public var query: ExternalStoreQuery? {
            switch self {
            case .store(let receipt): receipt.query
            case .google(let query, _): query
            case .receipt, .transaction: nil
            }
        }

        /// The customer's number at Cleeng, if the purchase is sent by it.
        public var cleengCustomer: Int64? {
            switch self {
            case .transaction(let number), .google(_, let number): number
            case .receipt, .store: nil
            }
        }
    }

    public var email: EmailAddress
    public var offerID: OfferID
    public var transactionID: TransactionID
    public var appType: String
    public var ipAddress: Private<String>?
    public var couponCode: CouponID?
    public var proof: Proof
}

extension PurchaseStore {
    private static func purchase(_ id: ValidationID, withReceipt: PostgresValue) -> SQL {
        """
        SELECT ROW(v.sealed_by, v.email) AS email, v.offer_id, v.transaction_id, v.app_type,
               ROW(v.sealed_by, v.ip_address) AS ip_address, v.coupon_code, v.cleeng_customer, r.is_text,
               ROW(r.sealed_by, r.body) AS body, v.driver
        FROM validations v
        LEFT JOIN receipts r ON \(withReceipt) AND r.bucket = v.bucket AND r.accepted_on = v.accepted_on AND r.id = v.id
        WHERE \(id.isKey(of: "v")) AND (r.id IS NOT NULL OR NOT \(withReceipt))
        """
    }

    /// The purchase's data for Cleeng. Read only when it is sent, since receipts are large. Not read at all if this
    /// process has just accepted the purchase.
    public func purchase(of claimed: ClaimedPursuit, by driver: PurchaseDriver) async throws -> StoredPurchase {
        if let accepted = claimed.accepted { return try StoredPurchase(accepted, by: driver) }
        return try await purchase(claimed.id, by: driver)
    }

    func purchase(_ id: ValidationID, by driver: PurchaseDriver) async throws -> StoredPurchase {
        let query = Self.purchase(id, withReceipt: .bool(driver.sendsReceipt))
        guard let row = try await database.query(query).first else { throw StoreError.missingRow("the receipt") }
        return StoredPurchase(
            email: try row.open("email"), offerID: try row.get("offer_id"),
            transactionID: try row.get("transaction_id"), appType: try row.get("app_type"),
            ipAddress: try row.open("ip_address"), couponCode: try row.get("coupon_code"),
            proof: try .of(
                driver, accepted: try row.get("driver", as: Int16.self), cleengCustomer: row.get("cleeng_customer")
            ) { Acceptance.Receipt(isText: try row.get("is_text"), bytes: try row.open("body")) })
    }
}

extension StoredPurchase {
    fileprivate init(_ accepted: Acceptance, by driver: PurchaseDriver) throws {
        self.init(
            email: accepted.email.sent, offerID: accepted.offerID, transactionID: accepted.transactionID,
            appType: accepted.appType, ipAddress: accepted.ipAddress, couponCode: accepted.couponCode,
            proof: try .of(
                driver, accepted: accepted.driver.rawValue, cleengCustomer: accepted.cleengCustomer
            ) { accepted.receipt })
    }
}

extension StoredPurchase.Proof {
    /// - Parameters:
    ///   - driver: driver that sends the purchase; `receipt` represents all drivers that send a receipt.
    ///   - accepted: number of the driver for which the purchase was accepted.
    ///   - receipt: called only if the receipt is sent.
    fileprivate static func of(
        _ driver: PurchaseDriver, accepted: Int16, cleengCustomer: Int64?, receipt: () throws -> Acceptance.Receipt
    ) throws -> Self {
        switch driver {
        case .storekit2: .transaction(cleengCustomer: try required(cleengCustomer))
        case .googleV2: .google(try decoded(receipt(), .google).query, cleengCustomer: try required(cleengCustomer))
        default: try of(receipt(), accepted: accepted)
        }
    }

    /// The proof as a receipt, also for a purchase that was first sent as a transaction.
    private static func of(_ receipt: Acceptance.Receipt, accepted: Int16) throws -> Self {
        // A driver of a newer version: the purchase must not be sent in another form.
        guard let driver = PurchaseDriver(rawValue: accepted) else {
            throw StoreError.unknownNumber(column: "validations.driver", number: Int(accepted))
        }
        return driver.platform == .apple ? .receipt(receipt) : .store(try decoded(receipt, driver.platform))
    }

    private static func decoded(_ receipt: Acceptance.Receipt, _ platform: StorePlatform) throws -> StoreReceipt {
        let column = "receipts.body"
        let values = try LedgerJSON.value(
            [String: StoreReceipt.SentScalar?].self, String(decoding: receipt.bytes.value, as: UTF8.self),
            column: column)
        guard let receipt = StoreReceipt(platform, values.compactMapValues(\.self)) else {
            throw StoreError.unreadable(column: column)
        }
        return receipt
    }

    private static func required(_ cleengCustomer: Int64?) throws -> Int64 {
        guard let cleengCustomer else { throw StoreError.missingRow("the customer's number at Cleeng") }
        return cleengCustomer
    }
}
