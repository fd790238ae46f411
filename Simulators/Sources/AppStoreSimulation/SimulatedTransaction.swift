public import Foundation

/// Content of a signed transaction, under the names of Apple's `JWSTransactionDecodedPayload`. Nil fields are left out.
public struct SimulatedTransaction: Sendable, Hashable, Encodable {
    public var bundleId: String
    /// `Production` or `Sandbox`.
    public var environment: String
    public var productId: String
    public var transactionId: String
    public var originalTransactionId: String
    /// The number of the period's line in the order, the same on a device and on a server.
    public var webOrderLineItemId: String?
    public var purchaseDate: Date
    public var originalPurchaseDate: Date
    /// Nil if the purchase does not expire.
    public var expiresDate: Date?
    public var type = "Auto-Renewable Subscription"
    /// `PURCHASED` or `FAMILY_SHARED`.
    public var inAppOwnershipType = "PURCHASED"
    public var revocationDate: Date?
    public var revocationReason: Int?
    /// `REFUND_FULL`, `REFUND_PRORATED` or `FAMILY_REVOKE`.
    public var revocationType: String?
    /// True or left out.
    public var isUpgraded: Bool?
    public var previousOriginalTransactionId: String?
    /// Written in this letter case.
    public var appAccountToken: String?
    /// `PURCHASE` or `RENEWAL`.
    public var transactionReason = "PURCHASE"
    public var offerIdentifier: String?
    /// 1 introductory, 2 promotional, 3 offer code, 4 win-back.
    public var offerType: Int?
    public var offerDiscountType: String?
    public var quantity = 1
    public var storefront = "USA"
    /// Nil for a purchase of a product that App Store Connect knows by its own id.
    public var advancedCommerceInfo: SimulatedCommerceInfo?

    /// - Parameters:
    ///   - originalTransactionId: defaults to the transaction's own.
    ///   - originalPurchaseDate: defaults to the transaction's own.
    public init(
        bundleId: String, environment: String = "Sandbox", productId: String, transactionId: String,
        originalTransactionId: String? = nil, webOrderLineItemId: String? = nil, purchaseDate: Date,
        originalPurchaseDate: Date? = nil, expiresDate: Date?
    ) {
        self.bundleId = bundleId
        self.environment = environment
        self.productId = productId
        self.transactionId = transactionId
        self.originalTransactionId = originalTransactionId ?? transactionId
        self.webOrderLineItemId = webOrderLineItemId
        self.purchaseDate = purchaseDate
        self.originalPurchaseDate = originalPurchaseDate ?? purchaseDate
        self.expiresDate = expiresDate
    }

    /// JSON for ``StoreAuthority/sign(json:algorithm:certificates:)``.
    public func json(signedDate: Date) throws -> Data {
        try SimulatedJSON.encode(SignedPart(content: self, signedDate: signedDate))
    }
}

/// What an Advanced Commerce purchase consists of.
public struct SimulatedCommerceInfo: Sendable, Hashable, Encodable {
    public struct Item: Sendable, Hashable, Encodable {
        public var sku: String
        /// When this item alone was refunded.
        public var revocationDate: Date?

        private enum CodingKeys: String, CodingKey {
            case sku = "SKU"
            case revocationDate
        }
    }

    public var items: [Item]

    public init(_ skus: [String]) { items = skus.map { Item(sku: $0) } }
}

extension [SimulatedTransaction] {
    /// When a transaction was revoked, or replaced by the next: receipts call both cancelled.
    func cancellationDate(of transaction: SimulatedTransaction) -> Date? {
        guard transaction.revocationDate == nil, transaction.isUpgraded == true else {
            return transaction.revocationDate
        }
        return map(\.purchaseDate).filter { $0 > transaction.purchaseDate }.min()
    }
}

/// Content of renewal information, under the names of Apple's `JWSRenewalInfoDecodedPayload`. Nil fields are left out.
public struct SimulatedRenewal: Sendable, Hashable, Encodable {
    public var originalTransactionId: String
    public var productId: String
    /// Differs from the product after a downgrade.
    public var autoRenewProductId: String
    /// 1: it will renew, 0: it will not.
    public var autoRenewStatus: Int
    /// Reason of the end: 1 turned off, 2 not paid, 3 no consent to a higher price, 4 no longer sold, 5 other.
    public var expirationIntent: Int?
    public var isInBillingRetryPeriod: Bool?
    public var gracePeriodExpiresDate: Date?
    /// 0: consent to a higher price is requested, 1: it was given.
    public var priceIncreaseStatus: Int?
    public var environment: String

    /// - Parameter autoRenewProductId: defaults to the product itself.
    public init(
        originalTransactionId: String, productId: String, autoRenewProductId: String? = nil, autoRenewStatus: Int = 1,
        expirationIntent: Int? = nil, isInBillingRetryPeriod: Bool? = nil, gracePeriodExpiresDate: Date? = nil,
        priceIncreaseStatus: Int? = nil, environment: String = "Sandbox"
    ) {
        self.originalTransactionId = originalTransactionId
        self.productId = productId
        self.autoRenewProductId = autoRenewProductId ?? productId
        self.autoRenewStatus = autoRenewStatus
        self.expirationIntent = expirationIntent
        self.isInBillingRetryPeriod = isInBillingRetryPeriod
        self.gracePeriodExpiresDate = gracePeriodExpiresDate
        self.priceIncreaseStatus = priceIncreaseStatus
        self.environment = environment
    }

    /// JSON for ``StoreAuthority/sign(json:algorithm:certificates:)``.
    public func json(signedDate: Date) throws -> Data {
        try SimulatedJSON.encode(SignedPart(content: self, signedDate: signedDate))
    }
}

/// JSON in the App Store's form: times are whole milliseconds since 1970, and nil fields are left out.
enum SimulatedJSON {
    /// - Parameter inSnakeCase: names fields as version 1 notifications do.
    static func encode(_ value: some Encodable, inSnakeCase: Bool = false) throws -> Data {
        let encoder = JSONEncoder()
        // Equal content gives equal bytes.
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        if inSnakeCase { encoder.keyEncodingStrategy = .convertToSnakeCase }
        encoder.dateEncodingStrategy = .custom { date, encoder in
            var container = encoder.singleValueContainer()
            try container.encode(date.millisecondsSince1970)
        }
        return try encoder.encode(value)
    }
}

extension Date {
    var millisecondsSince1970: Int64 { Int64((timeIntervalSince1970 * 1_000).rounded()) }
}

/// A separately signed part: its own fields, and its signing date.
struct SignedPart<Content: Encodable>: Encodable {
    var content: Content
    var signedDate: Date

    private enum Key: String, CodingKey { case signedDate }

    func encode(to encoder: any Encoder) throws {
        try content.encode(to: encoder)
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(signedDate, forKey: .signedDate)
    }
}
