public import RelayCore

/// Result of a request to the App Store.
public enum AppStoreAnswer<Value: Sendable>: Sendable {
    case value(Value)
    /// The App Store has no such transaction for this app and environment.
    case unknown
    /// The App Store refuses our key, or rejects the request: our key or settings are wrong.
    case misconfigured(String)
    /// A temporary failure; `retryAfter` if the App Store stated one.
    case tryAgain(String, retryAfter: Duration?)

    /// Label for metrics.
    public var label: String {
        switch self {
        case .value: "read"
        case .unknown: "unknown"
        case .misconfigured: "misconfigured"
        case .tryAgain: "try_again"
        }
    }
}

/// Status of one subscription (`GET /inApps/v1/subscriptions/{transactionId}`). Its parts are signed; they are not
/// verified here.
public struct SubscriptionStatusItem: Sendable, Equatable, Decodable {
    public var originalTransactionId: TransactionID
    /// 1 active, 2 expired, 3 in billing retry, 4 in grace, 5 revoked.
    public var status: Int64
    public var signedTransactionInfo: String
    public var signedRenewalInfo: String?
}

/// A page of the notifications that the App Store has sent, or tried to send (`POST /inApps/v1/notifications/history`).
public struct NotificationHistoryPage: Sendable, Equatable {
    /// As written in the posted bodies.
    public var signedPayloads: [String]
    /// Token of the next page; nil on the last one.
    public var next: String?
}
