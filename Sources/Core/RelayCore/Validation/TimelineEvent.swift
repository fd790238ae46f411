/// An event of a validation's history, as operators see it.
public struct TimelineEvent: Sendable, Equatable {
    /// Raw values are stored. Those below 10 may change the status, and the change feed reads only them.
    public enum Kind: Int16, Sendable, CaseIterable {
        case granted = 1
        case rejected = 2
        case timedOut = 3
        case transferred = 4
        case revoked = 5
        case superseded = 6
        case abandoned = 7
        /// The granted access has a new end.
        case renewed = 8
        case accepted = 10
        case forwarded = 11
        case forwardFailed = 12
        case entitlementRead = 13
        case entitlementReadFailed = 14
        case baselineRead = 15
        case retried = 16
        case parked = 17
        case cleengEvent = 18
        case synchronizationRead = 19
        case synchronizationReadFailed = 20

        public var name: String {
            switch self {
            case .granted: "granted"
            case .rejected: "rejected"
            case .timedOut: "timed_out"
            case .transferred: "transferred"
            case .revoked: "revoked"
            case .superseded: "superseded"
            case .abandoned: "abandoned"
            case .renewed: "renewed"
            case .accepted: "accepted"
            case .forwarded: "forwarded"
            case .forwardFailed: "forward_failed"
            case .entitlementRead: "entitlement_read"
            case .entitlementReadFailed: "entitlement_read_failed"
            case .baselineRead: "baseline_read"
            case .retried: "retried"
            case .parked: "parked"
            case .cleengEvent: "cleeng_event"
            case .synchronizationRead: "synchronization_read"
            case .synchronizationReadFailed: "synchronization_read_failed"
            }
        }
    }

    public var at: Timestamp
    public var kind: Kind
    public var upstreamStatus: Int?
    public var latency: Duration?
    public var detail: String?

    public init(
        at: Timestamp, kind: Kind, upstreamStatus: Int? = nil, latency: Duration? = nil, detail: String? = nil
    ) {
        self.at = at
        self.kind = kind
        self.upstreamStatus = upstreamStatus
        self.latency = latency
        self.detail = detail
    }
}
