public import Logging
import Metrics
public import RelayStore
public import ServiceLifecycle

/// Tells publishers of changes: each is made into messages as soon as it is committed, or a tick later where another copy committed
/// it.
public struct CustomerUpdateService: Service {
    private let store: RelayStore
    private let updates: CustomerUpdates
    private let loop: WorkLoop
    private let onQueued: @Sendable () -> Void

    private static let batch = 100

    /// - Parameters:
    ///   - wakeup: rung when this process has committed a change.
    ///   - onQueued: there are messages to be delivered.
    public init(
        store: RelayStore, leeway: Duration, wakeup: Wakeup, logger: Logger,
        idleTick: Duration = .milliseconds(250), onQueued: @escaping @Sendable () -> Void
    ) {
        self.store = store
        updates = CustomerUpdates(store: store, leeway: leeway)
        loop = WorkLoop(
            wakeup: wakeup, idleTick: idleTick, logger: logger, complaint: "no publisher can be told of changes")
        self.onQueued = onQueued
    }

    public func run() async throws {
        let left = try? await store.adoptOutbox()
        if left ?? 0 > 0 { loop.logger.notice("took over what the version before had left to be told") }
        await cancelWhenGracefulShutdown { await loop.run(runOnce) }
    }

    /// - Returns: whether there may be more at once.
    func runOnce() async throws -> Bool {
        let told = try await updates.tell(limit: Self.batch)
        if told.messages > 0 {
            Counter(label: "relay_customer_updates").increment(by: told.messages)
            onQueued()
        }
        return told.customers == Self.batch
    }
}
