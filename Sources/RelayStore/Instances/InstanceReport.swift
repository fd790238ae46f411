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
    /// When the route that this speaks of was last called; of a state that is `ok`, when all of them had been.
    public var askedAt: Timestamp?

    public init(state: UpstreamState, since: Timestamp, lastError: String?, askedAt: Timestamp? = nil) {
        self.state = state
        self.since = since
        self.lastError = lastError
        self.askedAt = askedAt
    }

    /// Of several accounts' that one copy calls.
    public static func worst(_ reports: [InstanceReport]) -> InstanceReport? {
        reports.max { $0.state.severity < $1.state.severity }
    }

    /// The worst of several copies' words. One that has not asked for half a minute knows less than one that has asked since
    /// and found it well: with work to do it would have asked, however long its calls hang.
    static func worst(of reports: [InstanceReport], at now: Timestamp) -> InstanceReport? {
        let lastWell = reports.filter { $0.state == .ok }.compactMap(\.askedAt).max()
        return reports.filter { report in
            guard let askedAt = report.askedAt, let lastWell else { return true }
            return report.state == .ok || askedAt > lastWell || askedAt > now - .seconds(30)
        }.max { $0.state.severity < $1.state.severity }
    }
}
