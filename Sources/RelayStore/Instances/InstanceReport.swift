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

    public init(state: UpstreamState, since: Timestamp, lastError: String?) {
        self.state = state
        self.since = since
        self.lastError = lastError
    }
}
