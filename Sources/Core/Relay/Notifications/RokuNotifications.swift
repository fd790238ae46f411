import Formats
import HTTPServer
import HTTPTypes
public import Hummingbird
public import Logging
import NIOCore
public import RelayCore
import StoreSignals

/// Roku Pay's push notifications, signed by Roku's partner service (source: Roku, "Push notifications (JWT)"). The keys
/// come from one fixed address. Keys that a token's header names (`jku`, `x5u`) are not read.
public struct RokuNotifications: NotificationSource {
    /// Treatment of the older, unsigned form.
    public enum Unsigned: Sendable {
        /// It is a signal: Roku is asked, but only about purchases that the relay knows already.
        case signal
        /// Like `signal`, but the answer contains the developer's API key, which every caller of the route learns.
        case answerKey(Private<String>)
        case refuse
    }

    private static let issuer = "Roku, Inc. urn:roku:apps:partner-service.roku.com"

    public let store = StorePlatform.roku
    private let keys: SigningKeys
    private let unsigned: Unsigned
    /// Limits the unsigned messages that a process stores: any client can send them, and they must not fill the disk.
    private let limiter: RateLimiter

    /// - Parameter keys: Roku's keys.
    public init(keys: SigningKeys, unsigned: Unsigned) {
        self.init(keys: keys, unsigned: unsigned, limit: RateLimit(rate: 1, burst: 600))
    }

    /// - Parameter limit: limit of unsigned messages.
    init(keys: SigningKeys, unsigned: Unsigned, limit: RateLimit) {
        self.keys = keys
        self.unsigned = unsigned
        limiter = RateLimiter("sender", limit, shards: 1)
    }

    /// - Throws: ``NotificationRefusal``; a ``Problem`` while Roku's keys cannot be read, or if too many unsigned
    ///   messages arrive.
    func verify(_ body: [UInt8], now: Timestamp) async throws {
        guard let text = RokuNotification.token(in: body) else {
            if case .refuse = unsigned {
                throw NotificationRefusal(
                    code: "unsigned", detail: "it is not signed, and RELAY_ROKU_UNSIGNED is refuse")
            }
            return try limiter.take("").check()
        }
        guard let token = JSONWebToken(text) else {
            throw NotificationRefusal(code: "unreadable", detail: "what should be signed is no JSON Web Signature")
        }
        let claims = try await keys.claims(of: token, as: "it", owner: "Roku's")
        try NotificationRefusal.unless(
            claims.iss?.isSame(Self.issuer) == true, "issuer", "it was not issued by Roku's partner service")
        try NotificationRefusal.unless(claims.isValid(at: now), "expired", "it is not valid now")
    }

    public func read(_ body: [UInt8], now: Timestamp) async throws -> StoreNotification {
        // Parses first, so that a body that is not a push gets its own error.
        let notification = try RokuNotification(body: body)
        try await verify(body, now: now)
        return notification.notification
    }

    /// Warns about an unsigned message. If it came from Roku, Roku may switch off this address, because the answer
    /// lacks the API key.
    public func warning(about notification: StoreNotification) -> Logger.Message? {
        guard notification.isUnproven, case .signal = unsigned else { return nil }
        return
            "an unsigned message of Roku's is answered without the API key: if your account sends that form, Roku may switch the address off (RELAY_ROKU_UNSIGNED)"
    }

    /// Roku counts the older form as delivered only if the answer repeats its `responseKey`.
    public func answer(to notification: StoreNotification) -> Response {
        var headers: HTTPFields = [
            .contentType: "text/plain", .cacheControl: "no-store", .xContentTypeOptions: "nosniff",
        ]
        if notification.isUnproven, case .answerKey(let key) = unsigned,
            let name = HTTPField.Name("ApiKey")
        {
            headers[name] = key.value
        }
        return Response(
            status: .ok, headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(string: notification.responseKey ?? "")))
    }
}
