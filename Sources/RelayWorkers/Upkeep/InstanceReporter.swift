import Logging
import RelayStore
import ServiceLifecycle

/// Says that this copy lives and how the upstream looks from here: every few seconds, and when that has changed.
public struct InstanceReporter: Service {
    private let store: RelayStore
    private let upstream: Upstream?
    private let role: String
    private let interval: Duration
    /// Where the upstream fails and succeeds by turns, not every turn is worth a write.
    private let shortestPause = Duration.milliseconds(250)

    /// - Parameter upstream: nil in a process that runs no workers.
    public init(store: RelayStore, upstream: Upstream?, role: String, interval: Duration = .seconds(5)) {
        self.store = store
        self.upstream = upstream
        self.role = role
        self.interval = interval
    }

    public func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                try? await runOnce()
                try? await Task.sleep(for: shortestPause)
                await wait()
            }
        }
        try? await store.reportGone()
    }

    private func wait() async {
        guard let upstream else {
            try? await Task.sleep(for: interval)
            return
        }
        await upstream.news.wait(atMost: interval)
    }

    func runOnce() async throws {
        guard let now = store.clock.now else { return }
        let report = upstream?.report() ?? InstanceReport(state: .ok, since: now, lastError: nil)
        try await store.report(report, role: role)
    }
}
