import RelayStore
import ServiceLifecycle
import Telemetry

/// Adds what this copy has counted to the minutes that the console's charts are drawn from. What was counted since the last time
/// is lost with a process that is killed: the charts show how busy it was, and count no money.
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
        // Not in this task, which may have been cancelled: its last word counts too.
        let isWritten = await Task { [store] in (try? await store.activity.add(new)) != nil }.value
        if isWritten { written = counted }
    }
}

extension ActivityKind {
    /// What this process has counted since its start.
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
