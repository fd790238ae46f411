/// The upstream's routes. Each fails and recovers by itself.
public enum UpstreamRoute: String, Sendable, CaseIterable {
    case payments = "payment"
    case reads = "entitlements"
    case registrations = "storekit2_purchases"
    case synchronizations = "storekit2_synchronizations"
    case googleRegistrations = "google_purchases"
    case googleSynchronizations = "google_synchronizations"

    /// The phase whose calls use the route.
    public var phase: Pursuit.Phase {
        switch self {
        case .payments: .forwarding
        case .reads: .watching
        case .registrations: .registering(.storekit2)
        case .synchronizations: .synchronizing(.storekit2)
        case .googleRegistrations: .registering(.google)
        case .googleSynchronizations: .synchronizing(.google)
        }
    }
}

extension Pursuit.Phase {
    /// The route of the next upstream call; nil if the phase makes none.
    public var route: UpstreamRoute? { UpstreamRoute.allCases.first { $0.phase == self } }
}
