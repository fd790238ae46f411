public import Foundation

/// How a subscription stands, as `PUT /_simulator/subscriptions/{originalTransactionId}` says it. What is nil follows from the rest.
public struct SimulatedStanding: Sendable, Hashable, Codable {
    public var productId: String
    public var expiresDate: Date
    public var bundleId: String?
    public var environment: String?
    /// With Apple's numbers; nil where it follows from the dates at each read.
    public var status: Int?
    public var transactionId: String?
    /// Others of it, by which it is found.
    public var transactionIds: [String]?
    public var purchaseDate: Date?
    public var originalPurchaseDate: Date?
    public var autoRenewStatus: Int?
    public var autoRenewProductId: String?
    public var isInBillingRetryPeriod: Bool?
    public var gracePeriodExpiresDate: Date?
    public var revocationDate: Date?
    public var revocationReason: Int?
    public var revocationType: String?
    public var expirationIntent: Int?
    public var priceIncreaseStatus: Int?
    public var inAppOwnershipType: String?
    public var transactionReason: String?
    public var storefront: String?
    public var appAccountToken: String?
    public var isUpgraded: Bool?
    public var previousOriginalTransactionId: String?
    public var webOrderLineItemId: String?
    public var subscriptionGroupIdentifier: String?

    enum CodingKeys: String, CodingKey, CaseIterable {
        case productId, expiresDate, bundleId, environment, status, transactionId, transactionIds, purchaseDate
        case originalPurchaseDate, autoRenewStatus, autoRenewProductId, isInBillingRetryPeriod, gracePeriodExpiresDate
        case revocationDate, revocationReason, revocationType, expirationIntent, priceIncreaseStatus
        case inAppOwnershipType, transactionReason, storefront, appAccountToken, isUpgraded
        case previousOriginalTransactionId, webOrderLineItemId, subscriptionGroupIdentifier
    }

    /// - Throws: where it is no JSON object, has a field too many or too few, or one that cannot be.
    public init(json: Data) throws(JSONFault) {
        self = try SimulatedJSON.decode(from: json, fields: CodingKeys.allCases.map(\.rawValue))
        try check()
    }

    /// What a notification tells of the subscription that it is about.
    ///
    /// - Returns: nil where it is about none.
    public init?(_ told: SimulatedNotification) {
        guard let transaction = told.transaction, let end = transaction.expiresDate else { return nil }
        productId = transaction.productId
        expiresDate = end
        bundleId = told.bundleId
        environment = told.environment
        transactionId = transaction.transactionId
        purchaseDate = transaction.purchaseDate
        originalPurchaseDate = transaction.originalPurchaseDate
        revocationDate = transaction.revocationDate
        revocationReason = transaction.revocationReason
        revocationType = transaction.revocationType
        inAppOwnershipType = transaction.inAppOwnershipType
        transactionReason = transaction.transactionReason
        storefront = transaction.storefront
        appAccountToken = transaction.appAccountToken
        isUpgraded = transaction.isUpgraded
        previousOriginalTransactionId = transaction.previousOriginalTransactionId
        webOrderLineItemId = transaction.webOrderLineItemId
        guard let renewal = told.renewal else { return }
        autoRenewStatus = renewal.autoRenewStatus
        autoRenewProductId = renewal.autoRenewProductId
        isInBillingRetryPeriod = renewal.isInBillingRetryPeriod
        gracePeriodExpiresDate = renewal.gracePeriodExpiresDate
        expirationIntent = renewal.expirationIntent
        priceIncreaseStatus = renewal.priceIncreaseStatus
        let following = SimulatedNotification.Status(transaction, renewal, at: told.signedDate)
        // One that follows goes on following: what is active now ends by itself.
        if let said = told.status, said != following { status = said.rawValue }
    }
}
