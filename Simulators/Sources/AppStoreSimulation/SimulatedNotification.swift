public import Foundation

/// What a version 2 notification is to say (App Store Server Notifications, `responseBodyV2DecodedPayload`).
///
/// Every part may be changed before it is signed, so that the parts contradict each other.
public struct SimulatedNotification: Sendable, Hashable {
    /// How the subscription stands when it is signed, with Apple's numbers.
    public enum Status: Int, Sendable {
        case active = 1
        case expired = 2
        case billingRetry = 3
        case grace = 4
        case revoked = 5
    }

    public var notificationType: String
    public var subtype: String?
    /// The same over all deliveries.
    public var notificationUUID: String
    public var environment: String
    public var bundleId: String
    /// The sandbox leaves it out.
    public var appAppleId: Int64?
    public var status: Status?
    /// Nil where it is about no purchase, as `TEST` is.
    public var transaction: SimulatedTransaction?
    public var renewal: SimulatedRenewal?
    /// Why the customer wants a refund, in a `CONSUMPTION_REQUEST`.
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
    /// What follows from the dates.
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
    /// The body that the App Store posts, `{"signedPayload":"…"}`: what is inside is signed first, then the whole.
    ///
    /// - Parameter inner: signs the transaction and the renewal information in place of this one.
    /// - Throws: where an authority's key is not one for it.
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
