import NIOConcurrencyHelpers
public import RelayCore

extension PursuitService {
    private static func route(of acceptance: Acceptance) -> UpstreamRoute {
        acceptance.driver.firstPhase.route ?? .payments
    }

    fileprivate func reserve(_ acceptance: Acceptance) -> Bool {
        let route = Self.route(of: acceptance)
        guard upstream.isBreakerClosed(route) else { return false }
        let available = available(in: route)
        return arrivals.withLockedValue { $0.reserve(route, available: available) }
    }

    fileprivate func release(_ acceptance: Acceptance) {
        arrivals.withLockedValue { $0.release(Self.route(of: acceptance)) }
    }

    fileprivate func begin(_ claimed: ClaimedPursuit, since claimedAt: ContinuousClock.Instant) {
        LeaseEngine(queue: self).begin(claimed, since: claimedAt)
        arrivals.withLockedValue { $0.release(route(of: claimed)) }
    }
}

/// Passes the purchases that this process accepts to the service of their Cleeng account.
public struct PurchaseArrivals: PurchaseClaimer {
    private let services: PerPublisher<PursuitService>
    public let own: [PublisherID]
    public let lease: Duration

    public init(_ services: PerPublisher<PursuitService>) {
        self.services = services
        own = services.own.keys.sorted()
        lease = services.common.settings.lease
    }

    public func reserve(_ acceptance: Acceptance) -> Bool {
        services[acceptance.publisher]?.reserve(acceptance) ?? false
    }

    /// The service that gave a place. The publisher may have got an account of its own since, which other copies use.
    private func reserver(of publisher: PublisherID) -> PursuitService { services.own[publisher] ?? services.common }

    public func release(_ acceptance: Acceptance) { reserver(of: acceptance.publisher).release(acceptance) }

    public func begin(_ claimed: ClaimedPursuit, since claimedAt: ContinuousClock.Instant) {
        reserver(of: claimed.publisher).begin(claimed, since: claimedAt)
    }
}

/// Decides whether a purchase that this process accepts may be pursued at once. Due purchases in the table came
/// earlier: while there may be some, new ones wait behind them.
struct ArrivalGate: Sendable {
    /// State of the gate when a claim was sent.
    struct Mark: Sendable {
        fileprivate var refusals: [UpstreamRoute: Int]
    }

    private var isOpen = false
    private var reserved: [UpstreamRoute: Int] = [:]
    private var refusals: [UpstreamRoute: Int] = [:]
    /// Routes that may have due purchases in the table.
    private var behind: Set<UpstreamRoute> = Set(UpstreamRoute.allCases)

    /// Number of places reserved for purchases that are being accepted.
    func reserved(_ route: UpstreamRoute) -> Int { reserved[route] ?? 0 }

    var mark: Mark { Mark(refusals: refusals) }

    mutating func open() { isOpen = true }
    mutating func close() { isOpen = false }

    /// - Parameter available: number of further pursuits that may be worked on.
    mutating func reserve(_ route: UpstreamRoute, available: Int) -> Bool {
        guard isOpen, !behind.contains(route), available > 0 else {
            refusals[route, default: 0] += 1
            behind.insert(route)
            return false
        }
        reserved[route, default: 0] += 1
        return true
    }

    mutating func release(_ route: UpstreamRoute) { reserved[route, default: 1] -= 1 }

    /// Records the result of a claim.
    ///
    /// - Parameters:
    ///   - isDrained: whether no due pursuit of the route is left.
    ///   - mark: state before the claim was sent. Purchases refused since then were not visible to the claim.
    mutating func claimed(_ route: UpstreamRoute, isDrained: Bool, since mark: Mark) {
        if isDrained, refusals[route] == mark.refusals[route] {
            behind.remove(route)
        } else {
            behind.insert(route)
        }
    }
}
