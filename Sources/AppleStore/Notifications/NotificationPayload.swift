public import RelayCore

/// What a version 2 notification says (App Store Server Notifications, `responseBodyV2DecodedPayload`).
///
/// Types and subtypes that this program does not know are kept as they are: new ones come with every release.
public struct NotificationPayload: Sendable, Hashable {
    public var notificationType: String?
    public var subtype: String?
    /// The same over all deliveries of a notification.
    public var notificationUUID: String?
    public var version: String?
    public var signedDate: AppleTimestamp?
    /// About one customer's purchase; nil where it is about something else (`summary`, `appData`, external purchases).
    public var data: NotificationData?
    /// The app that a notification without ``data`` is about.
    public var other: NotificationSubject?
}

/// Which app, and where.
public struct NotificationSubject: Sendable, Hashable {
    public var environment: AppleEnvironment
    public var bundleId: BundleID?
    /// Absent in the sandbox.
    public var appAppleId: Int64?
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
    public var status: OpenValue<Status>?
}
