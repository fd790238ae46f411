public import RelayCore

/// The fields of a StoreKit 2 transaction that the relay uses, under Apple's names (App Store Server API,
/// `JWSTransactionDecodedPayload`).
///
/// A missing or unreadable field is nil. ``CompactJWS/payload`` holds all others.
public struct TransactionPayload: Sendable, Hashable {
    public var transactionId: TransactionID?
    public var originalTransactionId: TransactionID?
    /// Original transaction id before the subscription moved into, or out of, a bundle of subscriptions.
    public var previousOriginalTransactionId: TransactionID?
    public var webOrderLineItemId: TransactionID?
    public var bundleId: BundleID?
    public var productId: ProductID?
    public var environment: AppleEnvironment
    /// When Apple signed it. Its certificates are verified as of that time.
    public var signedDate: AppleTimestamp?
    public var purchaseDate: AppleTimestamp?
    public var originalPurchaseDate: AppleTimestamp?
    public var expiresDate: AppleTimestamp?
    public var type: PurchaseEntry.Kind?
    /// `PURCHASED`, `FAMILY_SHARED`.
    public var inAppOwnershipType: String?
    public var revocationDate: AppleTimestamp?
    public var revocationReason: Int64?
    /// `REFUND_FULL`, `REFUND_PRORATED`, `FAMILY_REVOKE`.
    public var revocationType: String?
    public var isUpgraded: Bool?
    /// UUID that the app assigned to the customer at the purchase.
    public var appAccountToken: String?
    /// `SEAT_ADDITION` if the transaction adds seats to a period of the same subscription.
    public var additionalTransactionReason: String?
    /// 1 introductory, 2 promotional, 3 offer code, 4 win-back.
    public var offerType: Int64?
    public var offerIdentifier: String?
    /// `FREE_TRIAL`, `PAY_AS_YOU_GO`, `PAY_UP_FRONT`, `ONE_TIME`.
    public var offerDiscountType: String?
    /// The items of an Advanced Commerce purchase; empty for any other.
    public var items: [CommerceItem]
    /// Whether a revocation is present, readable or not.
    public var isRevoked: Bool
    /// Whether the fields that identify the purchase, and that define its access, were read. If such a field were taken
    /// as absent, the meaning would change: without `expiresDate` access never ends.
    public var isReadable: Bool

    /// Whether it only adds seats to a period that another transaction paid for. Its refund does not end the period.
    public var addsSeats: Bool { additionalTransactionReason == "SEAT_ADDITION" }

    static let introductoryOffer: Int64 = 1
    static let freeTrial = "FREE_TRIAL"
}

extension TransactionPayload: Decodable {
    private enum Key: String, CodingKey {
        case transactionId, originalTransactionId, previousOriginalTransactionId, webOrderLineItemId, bundleId,
            productId
        case environment, signedDate, purchaseDate, originalPurchaseDate, expiresDate, type, inAppOwnershipType
        case revocationDate, revocationReason, revocationType, isUpgraded, offerType, offerIdentifier, offerDiscountType
        case appAccountToken, additionalTransactionReason, advancedCommerceInfo
    }

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Key.self)
        transactionId = fields.identifier(.transactionId)
        originalTransactionId = fields.identifier(.originalTransactionId)
        previousOriginalTransactionId = fields.identifier(.previousOriginalTransactionId)
        webOrderLineItemId = fields.identifier(.webOrderLineItemId)
        bundleId = fields.text(.bundleId)
        productId = fields.text(.productId)
        environment = AppleEnvironment(raw: fields.text(.environment) ?? "")
        signedDate = fields.date(.signedDate)
        purchaseDate = fields.date(.purchaseDate)
        originalPurchaseDate = fields.date(.originalPurchaseDate)
        expiresDate = fields.date(.expiresDate)
        type = fields.text(.type).flatMap(PurchaseEntry.Kind.init(rawValue:))
        inAppOwnershipType = fields.text(.inAppOwnershipType)
        revocationDate = fields.date(.revocationDate)
        revocationReason = fields.integer(.revocationReason)
        revocationType = fields.text(.revocationType)
        isUpgraded = fields.bool(.isUpgraded)
        appAccountToken = fields.text(.appAccountToken)
        additionalTransactionReason = fields.text(.additionalTransactionReason)
        offerType = fields.integer(.offerType)
        offerIdentifier = fields.text(.offerIdentifier)
        offerDiscountType = fields.text(.offerDiscountType)
        let commerce = try? fields.decodeIfPresent(CommerceInfo.self, forKey: .advancedCommerceInfo)
        items = commerce?.items ?? []
        isRevoked = fields.contains(.revocationDate) && (try? fields.decodeNil(forKey: .revocationDate)) == false
        isReadable = ![
            fields.isUnreadable(.transactionId, transactionId),
            fields.isUnreadable(.originalTransactionId, originalTransactionId),
            fields.isUnreadable(.previousOriginalTransactionId, previousOriginalTransactionId),
            fields.isUnreadable(.webOrderLineItemId, webOrderLineItemId),
            fields.isUnreadable(.bundleId, bundleId), fields.isUnreadable(.productId, productId),
            fields.isUnreadable(.environment, fields.text(.environment) as String?),
            fields.isUnreadable(.type, fields.text(.type) as String?), fields.isUnreadable(.isUpgraded, isUpgraded),
            fields.isUnreadable(.signedDate, signedDate), fields.isUnreadable(.purchaseDate, purchaseDate),
            fields.isUnreadable(.expiresDate, end: expiresDate),
            fields.isUnreadable(.advancedCommerceInfo, commerce), commerce?.isReadable == false,
        ].contains(true)
    }
}
