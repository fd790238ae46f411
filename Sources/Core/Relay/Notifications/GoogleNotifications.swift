import Formats
public import HTTPTypes
public import RelayCore
import StoreSignals

/// Google Play's real-time developer notifications. Pub/Sub pushes them with a token that Google signs (OpenID Connect;
/// source: Pub/Sub, "Authenticate push subscriptions"). The token does not cover the body, so a notification is only a
/// signal.
public struct GoogleNotifications: NotificationSource {
    private static let issuers = ["https://accounts.google.com", "accounts.google.com"]

    public let store = StorePlatform.google
    private let keys: SigningKeys
    private let audience: String
    private let email: String
    private let packages: Set<BundleID>

    /// - Parameters:
    ///   - keys: Google's keys.
    ///   - audience: audience that the push subscription sets.
    ///   - email: email of the service account that signs the push.
    ///   - packages: apps whose notifications are accepted; empty: all.
    public init(keys: SigningKeys, audience: String, email: String, packages: Set<BundleID>) {
        self.keys = keys
        self.audience = audience
        self.email = email
        self.packages = packages
    }

    public func admit(_ headers: HTTPFields, now: Timestamp) async throws {
        guard let authorization = headers[.authorization], authorization.prefix(7).lowercased() == "bearer ",
            let token = JSONWebToken(String(authorization.dropFirst(7)))
        else {
            throw NotificationRefusal(
                code: "unsigned", detail: "it has no bearer token: switch authentication on for the push subscription")
        }
        let claims = try await keys.claims(of: token, as: "its token", owner: "Google's")
        try NotificationRefusal.unless(
            claims.iss.map { issuer in Self.issuers.contains { $0.isSame(issuer) } } ?? false, "issuer",
            "its token was not issued by accounts.google.com")
        try NotificationRefusal.unless(
            claims.aud.contains { $0.isSame(audience) }, "audience",
            "its token is for another audience than RELAY_GOOGLE_PUSH_AUDIENCE")
        try NotificationRefusal.unless(
            claims.emailVerified == true && claims.email?.isSame(email) == true, "email",
            "its token is of another service account than RELAY_GOOGLE_PUSH_EMAIL")
        try NotificationRefusal.unless(claims.isValid(at: now), "expired", "its token is not valid now")
    }

    public func read(_ body: [UInt8], now: Timestamp) async throws -> StoreNotification {
        let notification = try GoogleNotification(body: body)
        try NotificationRefusal.unless(
            packages.isEmpty || packages.contains(notification.packageName), "bundle",
            "its app is none of RELAY_GOOGLE_PACKAGES")
        return notification.notification
    }
}
