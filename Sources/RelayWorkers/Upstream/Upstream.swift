import Cleeng
import Foundation
import Logging
import Metrics
import NIOConcurrencyHelpers
import NIOCore
import RelayCore
import RelayStore

/// Cleeng as the workers see it: purchases in, answers in the domain's terms out, and an eye on how it does.
public final class Upstream: Sendable {
    private struct Health {
        var payments: UpstreamHealth
        var reads: UpstreamHealth
    }

    private let client: CleengClient
    private let clock: DatabaseClock
    private let logger: Logger
    private let health: NIOLockedValueBox<Health?> = .init(nil)

    public init(client: CleengClient, clock: DatabaseClock, logger: Logger) {
        self.client = client
        self.clock = clock
        self.logger = logger
    }

    func forward(_ purchase: Purchase) async -> RelayCore.ForwardAnswer {
        let answer = await client.pay(ApplePayment(purchase))
        let sorted = RelayCore.ForwardAnswer(answer)
        record(\.payments, sorted.outcome, "payment", latency: answer.latency, verdict: sorted.label)
        return sorted
    }

    /// One answer for each offer.
    func entitlements(
        of email: String, offers: [String], timeout: Duration? = nil
    ) async -> [String: RelayCore.EntitlementAnswer] {
        let observedAt = clock.noLaterThanNow ?? Timestamp(microseconds: 0)
        let answer = await client.entitlements(customerEmail: email, offers: offers, timeout: timeout)
        var sorted: [String: RelayCore.EntitlementAnswer] = [:]
        for offer in offers {
            sorted[offer] = RelayCore.EntitlementAnswer(answer, offer: offer, observedAt: observedAt)
        }
        if let one = sorted.first?.value {
            record(\.reads, one.outcome, "entitlements", latency: answer.latency, verdict: answer.label)
        }
        return sorted
    }

    /// The worse of the two routes. Nil before anything was asked of the upstream.
    public func report() -> InstanceReport? {
        health.withLockedValue { health in
            guard let health else { return nil }
            func severity(_ state: UpstreamHealth.State) -> Int {
                switch state {
                case .ok: 0
                case .degraded: 1
                case .down: 2
                case .misconfigured: 3
                }
            }
            let worse = severity(health.reads.state) > severity(health.payments.state) ? health.reads : health.payments
            return InstanceReport(
                state: InstanceReport.UpstreamState(rawValue: worse.state.rawValue) ?? .degraded, since: worse.since,
                lastError: worse.lastError)
        }
    }

    private func record(
        _ route: WritableKeyPath<Health, UpstreamHealth>, _ outcome: UpstreamHealth.Outcome, _ name: String,
        latency: Duration, verdict: String
    ) {
        Counter(label: "relay_upstream_calls", dimensions: [("route", name), ("verdict", verdict)]).increment()
        Timer(label: "relay_upstream_call_duration", dimensions: [("route", name)]).record(duration: latency)
        // A call that we broke off ourselves says nothing of the upstream.
        guard !Task.isCancelled, let now = clock.now else { return }
        let changed = health.withLockedValue { health -> UpstreamHealth? in
            var all = health ?? Health(payments: UpstreamHealth(since: now), reads: UpstreamHealth(since: now))
            let changed = all[keyPath: route].record(outcome, at: now)
            health = all
            return changed ? all[keyPath: route] : nil
        }
        guard let changed else { return }
        let metadata: Logger.Metadata = [
            "route": "\(name)", "state": "\(changed.state.rawValue)", "error": "\(changed.lastError ?? "")",
        ]
        switch changed.state {
        case .ok: logger.notice("upstream is well again", metadata: metadata)
        case .degraded: logger.warning("an upstream call failed", metadata: metadata)
        case .down: logger.error("upstream is down: purchases are kept and tried again", metadata: metadata)
        case .misconfigured:
            logger.critical(
                "upstream refuses our configuration (token or address): purchases are kept, none is rejected, and nothing is granted until it is mended",
                metadata: metadata)
        }
    }
}
