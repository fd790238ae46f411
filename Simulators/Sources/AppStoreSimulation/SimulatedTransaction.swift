public import Foundation

/// What a signed transaction is to say, under the names of Apple's `JWSTransactionDecodedPayload`. What is nil is left out.
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
    /// Nil for what does not expire.
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
    /// In the letter case in which it is to be written.
    public var appAccountToken: String?
    /// `PURCHASE` or `RENEWAL`.
    public var transactionReason = "PURCHASE"
    public var offerIdentifier: String?
    /// 1 introductory, 2 promotional, 3 by an offer code, 4 to win back.
    public var offerType: Int?
    public var offerDiscountType: String?
    public var quantity = 1
    public var storefront = "USA"

    /// - Parameters:
    ///   - originalTransactionId: without it, the transaction's own.
    ///   - originalPurchaseDate: without it, the transaction's own.
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

    /// What ``StoreAuthority/sign(json:algorithm:certificates:)`` takes.
    public func json(signedDate: Date) throws -> Data {
        try SimulatedJSON.encode(SignedPart(content: self, signedDate: signedDate))
    }
}

extension [SimulatedTransaction] {
    /// When one of them was taken back, or replaced by the next: receipts call both cancelled.
    func cancellationDate(of transaction: SimulatedTransaction) -> Date? {
        guard transaction.revocationDate == nil, transaction.isUpgraded == true else {
            return transaction.revocationDate
        }
        return map(\.purchaseDate).filter { $0 > transaction.purchaseDate }.min()
    }
}

/// What renewal information is to say, under the names of Apple's `JWSRenewalInfoDecodedPayload`. What is nil is left out.
public struct SimulatedRenewal: Sendable, Hashable, Encodable {
    public var originalTransactionId: String
    public var productId: String
    /// Another one after a downgrade.
    public var autoRenewProductId: String
    /// 1: it will renew, 0: it will not.
    public var autoRenewStatus: Int
    /// Why it ended: 1 turned off, 2 not paid, 3 no consent to a higher price, 4 no longer sold, 5 something else.
    public var expirationIntent: Int?
    public var isInBillingRetryPeriod: Bool?
    public var gracePeriodExpiresDate: Date?
    /// 0: consent to a higher price is asked for, 1: it was given.
    public var priceIncreaseStatus: Int?
    public var environment: String

    /// - Parameter autoRenewProductId: without it, the product itself.
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

    /// What ``StoreAuthority/sign(json:algorithm:certificates:)`` takes.
    public func json(signedDate: Date) throws -> Data {
        try SimulatedJSON.encode(SignedPart(content: self, signedDate: signedDate))
    }
}

/// JSON as the App Store writes it: moments are whole milliseconds since 1970, and what is nil is left out.
enum SimulatedJSON {
    /// - Parameter inSnakeCase: as version 1 notifications name their fields.
    static func encode(_ value: some Encodable, inSnakeCase: Bool = false) throws -> Data {
        let encoder = JSONEncoder()
        // The same bytes for the same content.
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

/// Something that is signed by itself: its own fields, and when that was done.
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
