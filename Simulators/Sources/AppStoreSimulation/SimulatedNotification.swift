public import Foundation

/// Content of a version 2 notification (App Store Server Notifications, `responseBodyV2DecodedPayload`).
///
/// Every part can be changed before signing, so that the parts can contradict each other.
public struct SimulatedNotification: Sendable, Hashable {
    /// Status of the subscription at signing, with Apple's numbers.
    public enum Status: Int, Sendable {
        case active = 1
        case expired = 2
        case billingRetry = 3
        case grace = 4
        case revoked = 5
    }

    public var notificationType: String
    public var subtype: String?
    /// The same in all deliveries.
    public var notificationUUID: String
    public var environment: String
    public var bundleId: String
    /// Left out in the sandbox.
    public var appAppleId: Int64?
    public var status: Status?
    /// Nil if it concerns no purchase, such as `TEST`.
    public var transaction: SimulatedTransaction?
    public var renewal: SimulatedRenewal?
    /// The customer's reason for a refund, in a `CONSUMPTION_REQUEST`.
    public var consumptionRequestReason: String?
    /// Signing date of the whole, and of each part.
    public var signedDate: Date

    public init(
        notificationType: String, subtype: String? = nil, notificationUUID: String, environment: String = "Sandbox",
        bundleId: String, appAppleId: Int64? = nil, status: Status? = nil, transaction: SimulatedTransaction? = nil,
        renewal: SimulatedRenewal? = nil, signedDate: Date
    ) {
        self.notificationType = notificationType
        self.subtype = subtype
        self.notificationUUID = notificationUUID
        self.environment = environment
        self.bundleId = bundleId
        self.appAppleId = appAppleId
        self.status = status
        self.transaction = transaction
        self.renewal = renewal
        self.signedDate = signedDate
    }
}

extension SimulatedNotification.Status {
    /// Status derived from the dates.
    public init(_ transaction: SimulatedTransaction, _ renewal: SimulatedRenewal, at moment: Date) {
        if transaction.revocationDate != nil {
            self = .revoked
        } else if transaction.expiresDate.map({ moment < $0 }) ?? true {
            self = .active
        } else if renewal.gracePeriodExpiresDate.map({ moment < $0 }) ?? false {
            self = .grace
        } else {
            self = renewal.isInBillingRetryPeriod == true ? .billingRetry : .expired
        }
    }
}

extension StoreAuthority {
    /// The body that the App Store posts, `{"signedPayload":"…"}`. The inner parts are signed first, then the whole.
    ///
    /// - Parameter inner: signs the transaction and the renewal information instead of this authority.
    /// - Throws: if an authority's key does not suit notifications.
    public func sign(_ notification: SimulatedNotification, inner: StoreAuthority? = nil) throws -> Data {
        let signer = inner ?? self
        let date = notification.signedDate
        let transaction = try notification.transaction.map { try signer.sign(json: $0.json(signedDate: date)) }
        let renewal = try notification.renewal.map { try signer.sign(json: $0.json(signedDate: date)) }
        let payload = Payload(
            notificationType: notification.notificationType, subtype: notification.subtype,
            notificationUUID: notification.notificationUUID,
            data: Details(
                environment: notification.environment, bundleId: notification.bundleId,
                appAppleId: notification.appAppleId, status: notification.status?.rawValue,
                signedTransactionInfo: transaction, signedRenewalInfo: renewal,
                consumptionRequestReason: notification.consumptionRequestReason))
        let text = try sign(json: SimulatedJSON.encode(SignedPart(content: payload, signedDate: date)))
        return try SimulatedJSON.encode(["signedPayload": text])
    }

    private struct Payload: Encodable {
        var notificationType: String
        var subtype: String?
        var notificationUUID: String
        var version = "2.0"
        var data: Details
    }

    private struct Details: Encodable {
        var environment: String
        var bundleId: String
        var appAppleId: Int64?
        var status: Int?
        var signedTransactionInfo: String?
        var signedRenewalInfo: String?
        var consumptionRequestReason: String?
    }
}
