import RelayCore

/// How far Cleeng is with a purchase that it took by StoreKit 2.
public struct SynchronizationAnswer: Sendable, Equatable {
    public enum Verdict: Sendable, Equatable {
        /// `processing`, or `retrying` after an error, perhaps for long.
        case running(String)
        /// `accessGranted` is nil where it was not said; `result` is one of a list that is not public as a whole.
        case finalized(accessGranted: Bool?, offerID: OfferID?, result: String?)
        case unknown
        case misconfigured(message: String?)
        case tryAgain(CleengTrouble, retryAfter: Duration?)
    }

    public var verdict: Verdict
    /// Nil where no answer came.
    public var status: Int?
    public var latency: Duration
}
