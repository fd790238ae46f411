public import RelayCore

/// The fields of a StoreKit 2 transaction (App Store Server API, `JWSTransactionDecodedPayload`), under Apple's names.
///
/// A field that is missing, or that cannot be read, is nil; fields that this program does not know are passed over
/// (they stay in ``CompactJWS/payload``, as do `advancedCommerceInfo` and `commitmentInfo`).
public struct TransactionPayload: Sendable, Hashable {
    public var transactionId: TransactionID?
    public var originalTransactionId: TransactionID?
    /// The number that the subscription had before it moved into, or out of, a bundle of subscriptions.
    public var previousOriginalTransactionId: TransactionID?
    public var webOrderLineItemId: TransactionID?
    public var appTransactionId: String?
    public var bundleId: BundleID?
    public var productId: ProductID?
    public var subscriptionGroupIdentifier: String?
    public var environment: AppleEnvironment
    /// When Apple signed it: the time that its certificates are judged at.
    public var signedDate: AppleTimestamp?
    public var purchaseDate: AppleTimestamp?
    public var originalPurchaseDate: AppleTimestamp?
    public var expiresDate: AppleTimestamp?
    public var quantity: Int64?
    public var type: OpenValue<ProductType>?
    /// A UUID that the app chose at purchase, in the letter case that it came in.
    public var appAccountToken: String?
    public var inAppOwnershipType: OpenValue<OwnershipType>?
    public var revocationDate: AppleTimestamp?
    public var revocationReason: OpenValue<RevocationReason>?
    public var revocationType: OpenValue<RevocationType>?
    /// Thousandths of a percent, as Apple writes it.
    public var revocationPercentage: Int64?
    public var isUpgraded: Bool?
    public var offerType: OpenValue<OfferType>?
    public var offerIdentifier: String?
    public var offerDiscountType: OpenValue<OfferDiscountType>?
    /// An ISO 8601 duration, `P1M`.
    public var offerPeriod: String?
    public var transactionReason: OpenValue<TransactionReason>?
    /// ISO 3166-1 alpha-3, `POL`.
    public var storefront: String?
    public var storefrontId: String?
    /// Thousandths of the currency's unit.
    public var price: Int64?
    /// ISO 4217.
    public var currency: String?
    public var billingPlanType: String?
    /// Whether a revocation is written at all, readable or not.
    public var isRevoked: Bool
}
