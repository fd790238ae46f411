public import Logging
import Metrics
import NIOConcurrencyHelpers
public import ServiceLifecycle

/// Queues messages to publishers about changes: as soon as a change is committed, or a tick later if another copy
/// committed it.
public struct CustomerUpdateService: Service {
    private let store: RelayStore
    private let updates: CustomerUpdates
    private let loop: WorkLoop
    /// Endpoints of the configuration, until they are in the table.
    private let listed: NIOLockedValueBox<[String]?>

    private static let batch = 100

    /// - Parameters:
    ///   - listed: URLs of the configured endpoints: no update is queued before they are in the table.
    ///   - wakeup: signalled when this process has committed a change.
    public init(
        store: RelayStore, listed: [String], wakeup: Wakeup, logger: Logger,
        idleTick: Duration = .milliseconds(250)
    ) {
        self.store = store
        updates = CustomerUpdates(store: store)
        loop = WorkLoop(
            name: "customer_updates", wakeup: wakeup, idleTick: { idleTick }, logger: logger,
            complaint: "no publisher can be notified of changes")
        self.listed = NIOLockedValueBox(listed)
    }

    public func run() async throws {
        await cancelWhenGracefulShutdown { await loop.run(runOnce) }
    }

    /// - Returns: whether there may be more to do at once.
    func runOnce() async throws -> Bool {
        if let urls = listed.withLockedValue({ $0 }) {
            try await store.webhooks.keepEndpoints(listed: urls)
            listed.withLockedValue { $0 = nil }
        }
        let sent = try await updates.queueMessages(limit: Self.batch)
        if sent.messages > 0 {
            Counter(label: "relay_customer_updates").increment(by: sent.messages)
            store.memory.signal(.webhooks)
        }
        return sent.customers == Self.batch
    }
}
