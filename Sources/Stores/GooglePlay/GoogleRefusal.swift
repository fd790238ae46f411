import OutboundHTTP
import StoreAPI

/// Interprets Google's answers with a status other than 200.
enum GoogleRefusal {
    /// Classifies Google's answers about a purchase.
    ///
    /// | status, reason | means | source |
    /// | --- | --- | --- |
    /// | 404 `applicationNotFound` | our account or its permissions | |
    /// | 400, 404, 410 | not a purchase | malformed token, unknown token, purchase that ended more than 60 days ago |
    /// | 403 with a quota reason | try again | Google: usage limits |
    /// | 401, 403 | our account or its permissions | |
    /// | 408, 409, 429, 5xx | try again | |
    /// | all else | our settings | |
    static func purchase<Value>(_ reply: HTTPReply) -> StoreAnswer<Value> {
        let reason = reason(reply)
        switch reply.status {
        case 400: return .notAPurchase("invalid")
        // No purchase must be refused for an app that the service account cannot see.
        case 404 where reason == "applicationNotFound": return .misconfigured("Google does not know this app")
        case 404: return .notAPurchase("unknown")
        case 410: return .notAPurchase("gone")
        case 401: return .misconfigured("the access token is refused")
        case 403 where reason.map(quotas.contains) ?? false:
            return .tryAgain("quota", retryAfter: reply.headers.retryAfter())
        case 403: return .misconfigured("the service account may not see this app's purchases")
        case 408, 409, 425, 429, 500...:
            return .tryAgain("HTTP \(reply.status)", retryAfter: reply.headers.retryAfter())
        default: return .misconfigured("HTTP \(reply.status)")
        }
    }

    /// Classifies Google's answers about an access token (RFC 6749, section 5.2).
    static func token<Value>(_ reply: HTTPReply) -> StoreAnswer<Value> {
        switch reply.status {
        case 408, 409, 425, 429, 500...:
            return .tryAgain("token HTTP \(reply.status)", retryAfter: reply.headers.retryAfter())
        default:
            let said = JSONValue(reply.wholeBody)?["error"]?.text
            let word = said.flatMap { faults.contains($0) ? $0 : nil }
            return .misconfigured("the service account gets no token: \(word ?? "HTTP \(reply.status)")")
        }
    }

    private static let faults: Set = [
        "invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type",
        "invalid_scope", "access_denied", "deleted_client", "disabled_client", "org_internal",
    ]

    private static let quotas: Set = [
        "rateLimitExceeded", "userRateLimitExceeded", "quotaExceeded", "dailyLimitExceeded", "RATE_LIMIT_EXCEEDED",
        "RESOURCE_EXHAUSTED",
    ]

    /// `error.errors[].reason`, or in newer answers `error.details[].reason`.
    private static func reason(_ reply: HTTPReply) -> String? {
        let error = JSONValue(reply.wholeBody)?["error"]
        return error?["errors"]?.list?.first?["reason"]?.text
            ?? error?["details"]?.list?.lazy.compactMap { $0["reason"]?.text }.first ?? error?["status"]?.text
    }
}
