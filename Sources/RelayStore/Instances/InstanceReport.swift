import RelayCore

/// What one running copy says of itself.
public struct InstanceReport: Sendable, Equatable {
    public enum UpstreamState: String, Sendable, CaseIterable {
        case ok, degraded, down, misconfigured

        /// How loudly it concerns ops.
        var severity: Int {
            switch self {
            case .ok: 0
            case .degraded: 1
            case .down: 2
            case .misconfigured: 3
            }
        }
    }

    public var state: UpstreamState
    public var since: Timestamp
    public var lastError: String?
    /// When the reported route was last called; of a state that is `ok`, when all of them had been.
    public var askedAt: Timestamp?
    /// Whether calls succeed beside those that fail: on another route of this copy, or of another copy.
    public var othersSucceed: Bool

    /// How often a copy reports.
    public static let interval = Duration.seconds(2)
    /// A copy that has not reported for so long is taken for dead: four reports are missing.
    public static let longestSilence = Duration.seconds(8)

    public init(
        state: UpstreamState, since: Timestamp, lastError: String?, askedAt: Timestamp? = nil,
        othersSucceed: Bool = false
    ) {
        self.state = state
        self.since = since
        self.lastError = lastError
        self.askedAt = askedAt
        self.othersSucceed = othersSucceed
    }

    /// Picks the worst of the reports on the accounts that one copy calls.
    public static func worst(_ reports: [InstanceReport]) -> InstanceReport? {
        reports.max { $0.state.severity < $1.state.severity }
    }

    /// The worst report of several copies, without those that are outdated.
    static func worst(of reports: [InstanceReport], at now: Timestamp) -> InstanceReport? {
        let lastSuccess = lastSuccess(of: reports)
        var worst = reports.filter { !$0.isOutdated(lastSuccess, at: now) }.max {
            $0.state.severity < $1.state.severity
        }
        if let lastSuccess, let since = worst?.since, lastSuccess >= since { worst?.othersSucceed = true }
        return worst
    }

    /// When a copy that finds the upstream well last called it.
    static func lastSuccess(of reports: [InstanceReport]) -> Timestamp? {
        reports.filter { $0.state == .ok }.compactMap(\.askedAt).max()
    }

    /// Whether another copy knows better: this one has not called the upstream for half a minute, and another has since, with success.
    /// With work to do it would have called, however long its calls hang. A token that is refused stays so until a restart.
    func isOutdated(_ lastSuccess: Timestamp?, at now: Timestamp) -> Bool {
        guard let askedAt, let lastSuccess, state == .degraded || state == .down else { return false }
        return askedAt <= lastSuccess && askedAt <= now - .seconds(30)
    }
}
