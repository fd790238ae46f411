/// Status of an endpoint across all copies and over days. It decides whether the endpoint still receives messages.
///
///     well ──a try fails──► failing ──five days without a success, and a retry fails──► disabled (failing)
///       ▲                      │  │
///       └────a try succeeds────┘  └──410──► disabled (gone); from well too
///
/// Whether the endpoint may be called right now is decided by the ``CircuitBreaker`` of each process.
public struct EndpointHealth: Sendable, Equatable {
    public enum Reason: String, Sendable, CaseIterable {
        /// It answered 410.
        case gone
        /// It accepted nothing for ``EndpointHealth/patience``.
        case failing
        /// An operator disabled it.
        case `operator`
    }

    /// A change to write.
    public enum Change: Sendable, Equatable {
        case failing
        case succeeded
        case disabled(Reason)
    }

    /// Five days: longer than all tries of a message, and longer than a weekend without an operator.
    public static let patience = Duration.seconds(5 * 86_400)
    /// How often a success is written if nothing else changes.
    static let noteEvery = Duration.seconds(60)

    public private(set) var failingSince: Timestamp?
    public private(set) var lastSuccessAt: Timestamp?
    public private(set) var isDisabled: Bool

    public init(failingSince: Timestamp? = nil, lastSuccessAt: Timestamp? = nil, isDisabled: Bool = false) {
        self.failingSince = failingSince
        self.lastSuccessAt = lastSuccessAt
        self.isDisabled = isDisabled
    }

    /// The change to write; nil if there is none.
    ///
    /// - Parameter wasRetried: whether the message had failed before. After a quiet week a first failure proves nothing
    ///   about the days between.
    public mutating func record(
        _ verdict: WebhookResult.Verdict, wasRetried: Bool, at now: Timestamp
    ) -> Change? {
        guard !isDisabled else { return nil }
        switch verdict {
        case .cancelled, .postponed: return nil
        case .delivered:
            let isNews = failingSince != nil || lastSuccessAt.map { now - $0 >= Self.noteEvery } ?? true
            guard isNews else { return nil }
            failingSince = nil
            lastSuccessAt = now
            return .succeeded
        case .gone:
            isDisabled = true
            return .disabled(.gone)
        case .failed, .refused:
            guard let failingSince else {
                failingSince = now
                return .failing
            }
            guard wasRetried, now - failingSince >= Self.patience else { return nil }
            isDisabled = true
            return .disabled(.failing)
        }
    }
}
