public import RelayCore

/// The renewal information that the relay uses (App Store Server API, `JWSRenewalInfoDecodedPayload`).
///
/// It names no bundle. The transaction beside it, with the same original id, binds it to an app.
public struct RenewalPayload: Sendable, Hashable {
    public var originalTransactionId: TransactionID?
    public var autoRenewProductId: ProductID?
    /// The items that will renew, of an Advanced Commerce purchase; empty for any other.
    public var items: [CommerceItem]
    /// 1: it will renew, 0: it will not.
    public var autoRenewStatus: Int64?
    public var expirationIntent: Int64?
    public var isInBillingRetryPeriod: Bool?
    public var gracePeriodExpiresDate: AppleTimestamp?
    public var priceIncreaseStatus: Int64?
    public var environment: AppleEnvironment
    public var signedDate: AppleTimestamp?
    /// Whether the fields that name the subscription, and that extend access past the period, were read. If such a
    /// field were taken as absent, access could end: without `gracePeriodExpiresDate` there is no grace period.
    public var isReadable: Bool
}

extension RenewalPayload: Decodable {
    private enum Key: String, CodingKey {
        case originalTransactionId, autoRenewProductId, autoRenewStatus, expirationIntent
        case isInBillingRetryPeriod, gracePeriodExpiresDate, priceIncreaseStatus, environment, signedDate
        case advancedCommerceInfo
    }

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Key.self)
        originalTransactionId = fields.identifier(.originalTransactionId)
        autoRenewProductId = fields.text(.autoRenewProductId)
        items = (try? fields.decodeIfPresent(CommerceInfo.self, forKey: .advancedCommerceInfo))?.items ?? []
        autoRenewStatus = fields.integer(.autoRenewStatus)
        expirationIntent = fields.integer(.expirationIntent)
        isInBillingRetryPeriod = fields.bool(.isInBillingRetryPeriod)
        gracePeriodExpiresDate = fields.date(.gracePeriodExpiresDate)
        priceIncreaseStatus = fields.integer(.priceIncreaseStatus)
        environment = AppleEnvironment(raw: fields.text(.environment) ?? "")
        signedDate = fields.date(.signedDate)
        isReadable = ![
            fields.isUnreadable(.originalTransactionId, originalTransactionId),
            fields.isUnreadable(.environment, fields.text(.environment) as String?),
            fields.isUnreadable(.autoRenewStatus, autoRenewStatus),
            fields.isUnreadable(.isInBillingRetryPeriod, isInBillingRetryPeriod),
            fields.isUnreadable(.gracePeriodExpiresDate, end: gracePeriodExpiresDate),
            fields.isUnreadable(.signedDate, signedDate),
        ].contains(true)
    }
}
