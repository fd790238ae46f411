import Logging
import Postgres
import RelayStore
import ServiceLifecycle

/// Keeps the tables in order: makes partitions ahead of time, forgets what no longer matters. Any number of copies may run it.
public struct Janitor: Service {
    private let store: RelayStore
    private let logger: Logger
    private let interval: Duration

    public init(store: RelayStore, logger: Logger, interval: Duration = .seconds(60)) {
        self.store = store
        self.logger = logger
        self.interval = interval
    }

    public func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                do {
                    try await runOnce()
                } catch {
                    logger.warning(
                        "the tables could not be tidied: tried again in a while", metadata: ["error": "\(error)"])
                }
                try? await Task.sleep(for: interval)
            }
        }
    }

    func runOnce() async throws {
        try await store.makePartitions()
        _ = try await store.pruneEntitlementReads()
        _ = try await store.pruneIdempotencyKeys()
    }
}
