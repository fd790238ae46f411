public import Logging
import NIOConcurrencyHelpers
public import ServiceLifecycle

/// Counts subscriptions granted for an offer to which the catalog does not map their product. This reads all running
/// subscriptions, about a second for a million. So it runs every few minutes and not at each scrape.
public final class CatalogueCheck: Service {
    private let store: RelayStore
    private let loop: WorkLoop
    private let box = NIOLockedValueBox<Int?>(nil)

    public init(store: RelayStore, logger: Logger, interval: Duration = .seconds(600)) {
        self.store = store
        loop = WorkLoop(
            name: "catalogue_check", wakeup: Wakeup(), idleTick: { interval }, logger: logger,
            complaint: "granted offers cannot be held against the catalogue")
    }

    /// Result of the last count; nil before the first.
    public var latest: Int? { box.withLockedValue { $0 } }

    public func run() async throws {
        await cancelWhenGracefulShutdown { await self.loop.run(self.runOnce) }
    }

    /// - Returns: false, so that the pause always follows.
    func runOnce() async throws -> Bool {
        let count = try await store.ops.count([.mismatch], in: .all)[.mismatch] ?? 0
        box.withLockedValue { $0 = count }
        return false
    }
}
