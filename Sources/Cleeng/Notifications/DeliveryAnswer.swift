import OutboundHTTP

/// What Cleeng made of a notification that was passed on.
public struct DeliveryAnswer: Sendable, Equatable {
    public enum Verdict: Sendable, Equatable {
        case delivered
        /// This very one is not wanted; the next may be.
        case refused
        /// The address is not the one that we mean.
        case misconfigured
        case tryAgain(CleengTrouble, retryAfter: Duration?)

        /// For metrics and for ops: one of a fixed set.
        public var shortDescription: String {
            switch self {
            case .delivered: "delivered"
            case .refused: "refused"
            case .misconfigured: "misconfigured"
            case .tryAgain(let trouble, _): trouble.shortDescription
            }
        }
    }

    public var verdict: Verdict
    /// Nil where no answer came.
    public var status: Int?
    public var latency: Duration
}

extension DeliveryAnswer.Verdict {
    /// By the status alone, as Apple itself judges it.
    init(_ reply: HTTPReply) {
        switch reply.status {
        case 200..<300: self = .delivered
        case 400, 413, 422: self = .refused
        case let status where StatusSorting.isMisconfiguration(status): self = .misconfigured
        default:
            self = .tryAgain(StatusSorting.trouble(reply.status), retryAfter: reply.headers.retryAfter())
        }
    }
}
