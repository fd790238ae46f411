import NIOConcurrencyHelpers
public import RelayCore
public import RelayStore

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
