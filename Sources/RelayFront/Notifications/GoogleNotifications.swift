import HTTPTypes
public import RelayCore
import StoreSignals

/// Accepts pushes of Pub/Sub by the token that Google signs for them (OpenID Connect; source: Pub/Sub, "Authenticate
/// push subscriptions"). The token does not cover the body, so a notification is only a signal.
public struct GooglePushPolicy: Sendable {
    private static let issuers = ["https://accounts.google.com", "accounts.google.com"]
    /// Allowed difference between Google's clock and the database's, in seconds.
    private static let leeway = 30.0

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

    /// - Throws: ``NotificationRefusal``; a ``Problem`` while Google's keys cannot be read.
    func verify(_ authorization: String?, now: Timestamp) async throws {
        guard let authorization, authorization.prefix(7).lowercased() == "bearer ",
            let token = JSONWebToken(String(authorization.dropFirst(7)))
        else {
            throw NotificationRefusal(
                code: "unsigned", detail: "it has no bearer token: switch authentication on for the push subscription")
        }
        guard token.header.alg == "RS256" else {
            throw NotificationRefusal(code: "algorithm", detail: "its token is not signed by RS256")
        }
        let set: JSONWebKeySet
        do {
            set = try await keys.keys(for: token.header.kid).keys
        } catch let error as SigningKeys.Unavailable {
            throw Problem(.storeUnavailable, "Google's keys: \(error.detail)")
        }
        guard set.verifies(token), let claims = token.claims else {
            throw NotificationRefusal(code: "signature", detail: "its token is not signed by a key of Google's")
        }
        try verify(claims, now: now)
    }

    private func verify(_ claims: JSONWebToken.Claims, now: Timestamp) throws {
        func require(_ holds: Bool, _ code: String, _ detail: String) throws {
            guard holds else { throw NotificationRefusal(code: code, detail: detail) }
        }
        let seconds = Double(now.microseconds) / 1_000_000
        try require(
            claims.iss.map { issuer in Self.issuers.contains { $0.isSame(issuer) } } ?? false, "issuer",
            "its token was not issued by accounts.google.com")
        try require(
            claims.aud.contains { $0.isSame(audience) }, "audience",
            "its token is for another audience than RELAY_GOOGLE_PUSH_AUDIENCE")
        try require(
            claims.emailVerified == true && claims.email?.isSame(email) == true, "email",
            "its token is of another service account than RELAY_GOOGLE_PUSH_EMAIL")
        try require(
            claims.exp.map { seconds < $0 + Self.leeway } ?? false
                && claims.nbf.map { seconds >= $0 - Self.leeway } ?? true, "expired", "its token is not valid now")
    }

    func takes(_ package: BundleID) -> Bool { packages.isEmpty || packages.contains(package) }
}

/// Source of Google Play's real-time developer notifications, which Pub/Sub pushes.
struct GoogleNotifications: NotificationSource {
    let policy: GooglePushPolicy
    let store = StorePlatform.google

    func admit(_ headers: HTTPFields, now: Timestamp) async throws {
        try await policy.verify(headers[.authorization], now: now)
    }

    func read(_ body: [UInt8], now: Timestamp) async throws -> StoreNotification {
        let notification: GoogleNotification
        do {
            notification = try GoogleNotification(body: body)
        } catch {
            throw Problem(error)
        }
        guard policy.takes(notification.packageName) else {
            throw NotificationRefusal(code: "bundle", detail: "its app is none of RELAY_GOOGLE_PACKAGES")
        }
        return notification.notification
    }
}
