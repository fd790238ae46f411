import Logging
public import ServiceLifecycle

/// Reports that this copy runs, and its upstream state: every few seconds, and after each change.
public struct InstanceReporter: Service {
    private let store: RelayStore
    private let upstreams: [Upstream]
    private let news: Wakeup
    private let role: String
    private let interval: Duration
    /// If the upstream fails and succeeds in turn, not every change is worth a write.
    private let shortestPause = Duration.milliseconds(250)

    /// - Parameters:
    ///   - upstreams: one for each account at Cleeng; empty in a process without workers.
    ///   - news: signalled when the state of one of them changes.
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
                // Repeats until the database's time is known and the first report is written.
                let isSaid = (try? await runOnce()) ?? false
                try? await Task.sleep(for: shortestPause)
                if isSaid { await news.wait(atMost: interval) }
            }
        }
        try? await store.instances.reportGone()
    }

    /// - Returns: whether a report was written.
    func runOnce() async throws -> Bool {
        guard let now = store.memory.clock.now else { return false }
        let report =
            InstanceReport.worst(upstreams.compactMap { $0.report() })
            ?? InstanceReport(state: .ok, since: now, lastError: nil)
        try await store.instances.report(report, role: role)
        return true
    }
}
