import Logging
import RelayStore
import ServiceLifecycle

/// Says every few seconds that this copy lives and how the upstream looks from here.
public struct InstanceReporter: Service {
    private let store: RelayStore
    private let upstream: Upstream?
    private let role: String
    private let interval: Duration

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
                try? await Task.sleep(for: interval)
            }
        }
        try? await store.reportGone()
    }

    func runOnce() async throws {
        guard let now = store.clock.now else { return }
        let report = upstream?.report() ?? InstanceReport(state: .ok, since: now, lastError: nil)
        try await store.report(report, role: role)
    }
}
