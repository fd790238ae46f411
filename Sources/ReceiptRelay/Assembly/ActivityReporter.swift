import Relay
import ServiceLifecycle
import Telemetry

/// Adds this copy's counts to the minutes that the console's charts show. A killed process loses its counts since the
/// last write: the charts show activity, not money.
struct ActivityReporter: Service {
    let store: RelayStore
    let registry: PrometheusRegistry

    private static let interval = Duration.seconds(5)

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var written: [ActivityKind: Int] = [:]
            while !Task.isCancelled {
                try? await Task.sleep(for: Self.interval)
                await report(&written)
            }
        }
    }

    /// - Parameter written: counts at the last write.
    private func report(_ written: inout [ActivityKind: Int]) async {
        let counted = Dictionary(uniqueKeysWithValues: ActivityKind.allCases.map { ($0, $0.total(in: registry)) })
        let new = counted.merging(written) { $0 - $1 }
        // A new task: the current one may be cancelled, and its last counts must be written too.
        let isWritten = await Task { [store] in (try? await store.activity.add(new)) != nil }.value
        if isWritten { written = counted }
    }
}

extension ActivityKind {
    /// This process's count since its start.
    fileprivate func total(in registry: PrometheusRegistry) -> Int {
        switch self {
        case .accepted: registry.total(of: "intake_outcomes", where: ("outcome", "created"))
        case .granted: registry.total(of: "relay_settlements", where: ("status", "granted"))
        case .rejected: registry.total(of: "relay_settlements", where: ("status", "rejected"))
        case .timedOut: registry.total(of: "relay_settlements", where: ("status", "timed_out"))
        case .upstreamAnswered:
            registry.total(of: "relay_upstream_calls")
                - ActivityKind.upstreamFailed.total(in: registry)
        case .upstreamFailed:
            registry.total(of: "relay_upstream_calls", where: ("verdict", "misconfigured"))
                + registry.total(of: "relay_upstream_calls", where: ("verdict", "try_again"))
        case .webhooksDelivered: registry.total(of: "relay_webhook_deliveries", where: ("state", "delivered"))
        case .webhooksFailed: registry.total(of: "relay_webhook_deliveries", where: ("state", "failed"))
        case .notifications:
            registry.total(of: "apple_notifications", where: ("result", "stored"))
                + registry.total(of: "store_notifications", where: ("result", "stored"))
        }
    }
}
