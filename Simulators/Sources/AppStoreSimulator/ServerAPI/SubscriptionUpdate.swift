import AppStoreSimulation
import Foundation
import SimulatorKit

/// State of a subscription in `PUT /_simulator/subscriptions/{originalTransactionId}`. Nil fields follow from the
/// others.
struct SubscriptionUpdate: Sendable, Hashable, Codable {
    var productId: String
    var expiresDate: Date
    var bundleId: String?
    var environment: String?
    /// Apple's number; nil if it follows from the dates at each read.
    var status: Int?
    var transactionId: String?
    /// The subscription's other transactions, by which it is found too.
    var transactionIds: [String]?
    var purchaseDate: Date?
    var originalPurchaseDate: Date?
    var autoRenewStatus: Int?
    var autoRenewProductId: String?
    var isInBillingRetryPeriod: Bool?
    var gracePeriodExpiresDate: Date?
    var revocationDate: Date?
    var revocationReason: Int?
    var revocationType: String?
    var expirationIntent: Int?
    var priceIncreaseStatus: Int?
    var inAppOwnershipType: String?
    var transactionReason: String?
    var storefront: String?
    var appAccountToken: String?
    var isUpgraded: Bool?
    var previousOriginalTransactionId: String?
    var webOrderLineItemId: String?
    var subscriptionGroupIdentifier: String?

    enum CodingKeys: String, CodingKey, CaseIterable {
        case productId, expiresDate, bundleId, environment, status, transactionId, transactionIds, purchaseDate
        case originalPurchaseDate, autoRenewStatus, autoRenewProductId, isInBillingRetryPeriod, gracePeriodExpiresDate
        case revocationDate, revocationReason, revocationType, expirationIntent, priceIncreaseStatus
        case inAppOwnershipType, transactionReason, storefront, appAccountToken, isUpgraded
        case previousOriginalTransactionId, webOrderLineItemId, subscriptionGroupIdentifier
    }

    /// - Throws: if it is not a JSON object, or has unknown, missing or impossible fields.
    init(json: Data) throws(ControlFault) {
        self = try JSONBody.decode(from: json, fields: CodingKeys.allCases.map(\.rawValue))
        try check()
    }

    /// State of the subscription that a notification concerns.
    ///
    /// - Returns: nil if it concerns none.
    init?(_ notification: SimulatedNotification) {
        guard let transaction = notification.transaction, let end = transaction.expiresDate else { return nil }
        productId = transaction.productId
        expiresDate = end
        bundleId = notification.bundleId
        environment = notification.environment
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
        guard let renewal = notification.renewal else { return }
        autoRenewStatus = renewal.autoRenewStatus
        autoRenewProductId = renewal.autoRenewProductId
        isInBillingRetryPeriod = renewal.isInBillingRetryPeriod
        gracePeriodExpiresDate = renewal.gracePeriodExpiresDate
        expirationIntent = renewal.expirationIntent
        priceIncreaseStatus = renewal.priceIncreaseStatus
        let following = SimulatedNotification.Status(transaction, renewal, at: notification.signedDate)
        // A status that follows from the dates is not stored, so it continues to follow them.
        if let said = notification.status, said != following { status = said.rawValue }
    }
}

/// Checks for impossible values.
extension SubscriptionUpdate {
    func check() throws(ControlFault) {
        try Self.demand(status.map { (1...5).contains($0) }, "status is 1 to 5")
        try Self.demand(
            environment.map { ["Production", "Sandbox"].contains($0) }, "environment is Production or Sandbox")
        try Self.demand(autoRenewStatus.map { (0...1).contains($0) }, "autoRenewStatus is 0 or 1")
        try Self.demand(revocationReason.map { (0...1).contains($0) }, "revocationReason is 0 or 1")
        try Self.demand(priceIncreaseStatus.map { (0...1).contains($0) }, "priceIncreaseStatus is 0 or 1")
        try Self.demand(expirationIntent.map { (1...5).contains($0) }, "expirationIntent is 1 to 5")
        try Self.demand(purchaseDate.map { $0 <= expiresDate }, "purchaseDate is not after expiresDate")
        try Self.demand(transactionIds.map { $0.count <= 100 }, "transactionIds are 100 at most")
        for number in [transactionId, previousOriginalTransactionId, webOrderLineItemId] + (transactionIds ?? []) {
            try Self.demand(number.map(Self.isNumber), "a transaction id has 1 to 32 digits")
        }
        let texts = [
            productId, bundleId, autoRenewProductId, revocationType, inAppOwnershipType, transactionReason, storefront,
            appAccountToken, subscriptionGroupIdentifier,
        ]
        for text in texts {
            try Self.demand(text.map { (1...255).contains($0.utf8.count) }, "a text has 1 to 255 bytes")
        }
    }

    /// Whether the text can be a transaction's number.
    static func isNumber(_ text: String) -> Bool {
        (1...32).contains(text.utf8.count) && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }

    /// - Parameter isGood: nil if the field is missing.
    private static func demand(_ isGood: Bool?, _ message: String) throws(ControlFault) {
        guard isGood ?? true else { throw .invalid(message) }
    }
}

/// The signed parts.
extension SubscriptionUpdate {
    private static let day: TimeInterval = 86_400

    /// - Parameters:
    ///   - app: default of the bundle id.
    ///   - environment: default of the environment.
    func transaction(
        of originalTransactionId: String, app: String, environment: String, at now: Date
    ) -> SimulatedTransaction {
        var transaction = SimulatedTransaction(
            bundleId: bundleId ?? app, environment: self.environment ?? environment, productId: productId,
            transactionId: transactionId ?? originalTransactionId, originalTransactionId: originalTransactionId,
            webOrderLineItemId: webOrderLineItemId,
            purchaseDate: purchaseDate ?? min(now, expiresDate.addingTimeInterval(-30 * Self.day)),
            originalPurchaseDate: originalPurchaseDate, expiresDate: expiresDate)
        let isRevoked = revocationDate != nil || status == SimulatedNotification.Status.revoked.rawValue
        if isRevoked {
            transaction.revocationDate = revocationDate ?? now
            transaction.revocationReason = revocationReason ?? 0
            transaction.revocationType = revocationType ?? "REFUND_FULL"
        }
        if let inAppOwnershipType { transaction.inAppOwnershipType = inAppOwnershipType }
        if let transactionReason { transaction.transactionReason = transactionReason }
        if let storefront { transaction.storefront = storefront }
        transaction.appAccountToken = appAccountToken
        transaction.isUpgraded = isUpgraded
        transaction.previousOriginalTransactionId = previousOriginalTransactionId
        return transaction
    }

    func renewal(of originalTransactionId: String, environment: String) -> SimulatedRenewal {
        let said = status.flatMap { SimulatedNotification.Status(rawValue: $0) }
        return SimulatedRenewal(
            originalTransactionId: originalTransactionId, productId: productId, autoRenewProductId: autoRenewProductId,
            autoRenewStatus: autoRenewStatus ?? 1, expirationIntent: expirationIntent,
            isInBillingRetryPeriod: isInBillingRetryPeriod ?? (said == .billingRetry || said == .grace),
            gracePeriodExpiresDate: gracePeriodExpiresDate
                ?? (said == .grace ? expiresDate.addingTimeInterval(16 * Self.day) : nil),
            priceIncreaseStatus: priceIncreaseStatus, environment: self.environment ?? environment)
    }
}
