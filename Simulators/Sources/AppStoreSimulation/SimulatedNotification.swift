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
    /// Of the whole, and of each part.
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
