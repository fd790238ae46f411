public import RelayCore

/// One running copy's report on itself.
public struct InstanceReport: Sendable, Equatable {
    public enum UpstreamState: String, Sendable, CaseIterable {
        case ok, degraded, down, misconfigured

        /// Order of severity for operators.
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
    /// When the reported route was last called. In state `ok`, the time by which all routes had been called.
    public var askedAt: Timestamp?
    /// Whether other calls succeed: on another route of this copy, or in another copy.
    public var othersSucceed: Bool

    /// How often a copy reports.
    public static let interval = Duration.seconds(2)
    /// Time without a report after which a copy counts as dead: four reports are missing.
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

    /// Selects the worst of one copy's reports on its accounts.
    public static func worst(_ reports: [InstanceReport]) -> InstanceReport? {
        reports.max { $0.state.severity < $1.state.severity }
    }

    /// Selects the worst report of several copies, ignoring outdated ones.
    static func worst(of reports: [InstanceReport], at now: Timestamp) -> InstanceReport? {
        let lastSuccess = lastSuccess(of: reports)
        var worst = reports.filter { !$0.isOutdated(lastSuccess, at: now) }.max {
            $0.state.severity < $1.state.severity
        }
        if let lastSuccess, let since = worst?.since, lastSuccess >= since { worst?.othersSucceed = true }
        return worst
    }

    /// Latest call by a copy whose upstream state is `ok`.
    static func lastSuccess(of reports: [InstanceReport]) -> Timestamp? {
        reports.filter { $0.state == .ok }.compactMap(\.askedAt).max()
    }

    /// Whether another copy has newer information: this copy has not called the upstream for half a minute, and another
    /// one has called it since, successfully. A copy with work would have called it in that time, even if its calls
    /// hang. A rejected token stays rejected until a restart.
    func isOutdated(_ lastSuccess: Timestamp?, at now: Timestamp) -> Bool {
        guard let askedAt, let lastSuccess, state == .degraded || state == .down else { return false }
        return askedAt <= lastSuccess && askedAt <= now - .seconds(30)
    }
}
