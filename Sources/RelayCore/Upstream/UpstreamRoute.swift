/// The ways on which the upstream is called. Each fails and recovers by itself.
public enum UpstreamRoute: String, Sendable, CaseIterable {
    case payments = "payment"
    case reads = "entitlements"
    case registrations = "storekit2_purchases"
    case synchronizations = "storekit2_synchronizations"

    /// The phase that waits for it.
    public var phase: Pursuit.Phase {
        switch self {
        case .payments: .forwarding
        case .reads: .watching
        case .registrations: .registering
        case .synchronizations: .synchronizing
        }
    }
}

extension Pursuit.Phase {
    /// On which the upstream is called next; nil where it is not.
    public var route: UpstreamRoute? { UpstreamRoute.allCases.first { $0.phase == self } }
}
