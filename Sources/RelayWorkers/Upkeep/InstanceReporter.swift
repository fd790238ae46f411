import Logging
import RelayStore
import ServiceLifecycle

/// Says that this copy lives and how the upstream looks from here: every few seconds, and when that has changed.
public struct InstanceReporter: Service {
    private let store: RelayStore
    private let upstreams: [Upstream]
    private let news: Wakeup
    private let role: String
    private let interval: Duration
    /// Where the upstream fails and succeeds by turns, not every turn is worth a write.
    private let shortestPause = Duration.milliseconds(250)

    /// - Parameters:
    ///   - upstreams: one for each account at Cleeng; none in a process that runs no workers.
    ///   - news: signalled when one of them does better or worse.
    public init(
        store: RelayStore, upstreams: [Upstream], news: Wakeup, role: String,
        interval: Duration = InstanceReport.interval
    ) {
        self.store = store
        self.upstreams = upstreams
        self.news = news
        self.role = role
        self.interval = interval
    }

    public func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                // Until the database's time is known, and this copy with it.
                let isSaid = (try? await runOnce()) ?? false
                try? await Task.sleep(for: shortestPause)
                if isSaid { await news.wait(atMost: interval) }
            }
        }
        try? await store.instances.reportGone()
    }

    /// - Returns: whether anything was said.
    func runOnce() async throws -> Bool {
        guard let now = store.memory.clock.now else { return false }
        let report =
            InstanceReport.worst(upstreams.compactMap { $0.report() })
            ?? InstanceReport(state: .ok, since: now, lastError: nil)
        try await store.instances.report(report, role: role)
        return true
    }
}
