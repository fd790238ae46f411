public import RelayCore

/// What a version 2 notification says (App Store Server Notifications, `responseBodyV2DecodedPayload`).
///
/// Types and subtypes that this program does not know are kept as they are: new ones come with every release. So do new objects
/// in place of `data`: see ``SignedNotification/isUnderstood``.
public struct NotificationPayload: Sendable, Hashable {
    public var notificationType: String?
    public var subtype: String?
    /// The same over all deliveries of a notification.
    public var notificationUUID: String?
    public var signedDate: AppleTimestamp?
    /// About one customer's purchase; nil where it is about something else (`summary`, `appData`, external purchases).
    public var data: NotificationData?
    /// The app that a notification without ``data`` is about.
    public var other: NotificationSubject?
    /// Whether it has a type or a UUID, readable or not. Nothing else that Apple signs has either.
    public var isNotification: Bool

    /// The app that it is about. Nil where its object is none that this program knows.
    public var subject: NotificationSubject? { data?.subject ?? other }
}

/// Which app, and where.
public struct NotificationSubject: Sendable, Hashable {
    public var environment: AppleEnvironment
    public var bundleId: BundleID?
    /// Absent in the sandbox.
    public var appAppleId: Int64?
    /// Whether each of these was read. Otherwise nobody can say whether the app is ours.
    public var isReadable: Bool
}

/// The `data` of a notification.
public struct NotificationData: Sendable, Hashable {
    /// How the subscription stood when this was signed (App Store Server API, `status`).
    public enum Status: Int64, Sendable, Hashable {
        case active = 1
        case expired = 2
        case billingRetry = 3
        case grace = 4
        case revoked = 5
    }

    public var subject: NotificationSubject
    /// Each signed by itself.
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
        // A token for a purchase outside the store says it in its name only.
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
        // Signed texts are longer than what is read as text elsewhere; what bounds them is the message that holds them.
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
