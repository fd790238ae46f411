public import RelayCore

/// What the App Store said when it was asked.
public enum AppStoreAnswer<Value: Sendable>: Sendable {
    case value(Value)
    /// It knows of no such transaction, in this environment and of this app.
    case unknown
    /// It does not let us ask, or what we ask makes no sense to it: our key or our settings.
    case misconfigured(String)
    /// Passing; `retryAfter` as far as it was said.
    case tryAgain(String, retryAfter: Duration?)

    /// For metrics.
    public var label: String {
        switch self {
        case .value: "read"
        case .unknown: "unknown"
        case .misconfigured: "misconfigured"
        case .tryAgain: "try_again"
        }
    }
}

/// How one subscription stands (`GET /inApps/v1/subscriptions/{transactionId}`). The parts are signed, and not verified here.
public struct SubscriptionStatusItem: Sendable, Equatable, Decodable {
    public var originalTransactionId: TransactionID
    /// 1 active, 2 expired, 3 in billing retry, 4 in grace, 5 revoked.
    public var status: Int64
    public var signedTransactionInfo: String
    public var signedRenewalInfo: String?
}

/// A page of the notifications that the App Store has sent, or tried to send (`POST /inApps/v1/notifications/history`).
public struct NotificationHistoryPage: Sendable, Equatable {
    /// As they stand in the bodies that were sent.
    public var signedPayloads: [String]
    /// Token of the next page; nil on the last one.
    public var next: String?
}
