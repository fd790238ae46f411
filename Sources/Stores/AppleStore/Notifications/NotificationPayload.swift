public import RelayCore

/// Content of a version 2 notification (App Store Server Notifications, `responseBodyV2DecodedPayload`).
///
/// Unknown types and subtypes are kept unchanged, because Apple adds new ones in every release. The same holds for new
/// objects in place of `data`: see ``SignedNotification/isUnderstood``.
public struct NotificationPayload: Sendable, Hashable {
    public var notificationType: String?
    public var subtype: String?
    /// The same in all deliveries of a notification.
    public var notificationUUID: String?
    public var signedDate: AppleTimestamp?
    /// The purchase of one customer; nil for other subjects (`summary`, `appData`, external purchases).
    public var data: NotificationData?
    /// App that a notification without ``data`` concerns.
    public var other: NotificationSubject?
    /// Whether it has a type or a UUID, readable or not. Nothing else that Apple signs has either.
    public var isNotification: Bool

    /// App that the notification concerns. Nil if its object is unknown to this version.
    public var subject: NotificationSubject? { data?.subject ?? other }
}

/// App and environment of a notification.
public struct NotificationSubject: Sendable, Hashable {
    public var environment: AppleEnvironment
    public var bundleId: BundleID?
    /// Absent in the sandbox.
    public var appAppleId: Int64?
    /// Whether all of these fields were read. If not, the relay cannot tell whether the app is ours.
    public var isReadable: Bool
}

/// The `data` of a notification.
public struct NotificationData: Sendable, Hashable {
    /// Status of the subscription at the time of signing (App Store Server API, `status`).
    public enum Status: Int64, Sendable, Hashable {
        case active = 1
        case expired = 2
        case billingRetry = 3
        case grace = 4
        case revoked = 5
    }

    public var subject: NotificationSubject
    /// Both are signed separately.
    public var signedTransactionInfo: String?
    public var signedRenewalInfo: String?
    public var status: Status?
    /// Why the customer wants a refund, in a CONSUMPTION_REQUEST.
    public var consumptionRequestReason: String?
    /// Whether its signed parts were read.
    public var isReadable: Bool
}

extension NotificationPayload: Decodable {
    private enum Key: String, CodingKey {
        case notificationType, subtype, notificationUUID, signedDate, data, summary, appData, externalPurchaseToken
    }

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Key.self)
        notificationType = fields.identifier(.notificationType)
        subtype = fields.identifier(.subtype)
        notificationUUID = fields.identifier(.notificationUUID)
        signedDate = fields.date(.signedDate)
        data = try? fields.decodeIfPresent(NotificationData.self, forKey: .data)
        for key in [Key.summary, .appData, .externalPurchaseToken] where data == nil && other == nil {
            other = try? fields.decodeIfPresent(NotificationSubject.self, forKey: key)
        }
        isNotification = fields.contains(.notificationType) || fields.contains(.notificationUUID)
    }
}

extension NotificationSubject: Decodable {
    private enum Key: String, CodingKey { case environment, bundleId, appAppleId, externalPurchaseId }

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Key.self)
        // The token of an external purchase shows its environment only in its name.
        let token: String? = fields.identifier(.externalPurchaseId)
        let named: String? = fields.text(.environment)
        environment = AppleEnvironment(
            raw: named ?? token.map { $0.hasPrefix("SANDBOX") ? "Sandbox" : "Production" } ?? "")
        bundleId = fields.text(.bundleId)
        appAppleId = fields.integer(.appAppleId)
        isReadable = ![
            fields.isUnreadable(.environment, named), fields.isUnreadable(.externalPurchaseId, token),
            fields.isUnreadable(.bundleId, bundleId), fields.isUnreadable(.appAppleId, appAppleId),
        ].contains(true)
    }
}

extension NotificationData: Decodable {
    private enum Key: String, CodingKey {
        case signedTransactionInfo, signedRenewalInfo, status, consumptionRequestReason
    }

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Key.self)
        subject = try NotificationSubject(from: decoder)
        // Signed texts may exceed the limit for other texts; the size of the whole message bounds them.
        signedTransactionInfo = try? fields.decodeIfPresent(String.self, forKey: .signedTransactionInfo)
        signedRenewalInfo = try? fields.decodeIfPresent(String.self, forKey: .signedRenewalInfo)
        status = fields.integer(.status).flatMap(Status.init(rawValue:))
        consumptionRequestReason = fields.identifier(.consumptionRequestReason)
        isReadable = ![
            fields.isUnreadable(.signedTransactionInfo, signedTransactionInfo),
            fields.isUnreadable(.signedRenewalInfo, signedRenewalInfo),
        ].contains(true)
    }
}
