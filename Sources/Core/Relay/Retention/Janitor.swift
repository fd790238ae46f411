public import Logging
import Postgres
public import ServiceLifecycle

/// Maintains the tables: creates partitions ahead of time, and deletes obsolete rows. Any number of copies may run it.
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
                    guard !Task.isCancelled else { return }
                    logger.warning(
                        "the tables could not be tidied: tried again in a while", metadata: ["error": "\(error)"])
                }
                try? await Task.sleep(for: interval)
            }
        }
    }

    func runOnce() async throws {
        try await store.retention.makePartitions()
        try await prune { try await store.purchases.pruneReads() }
        try await prune { try await store.retention.pruneIdempotencyKeys() }
        try await prune { try await store.notifications.pruneNames() }
        try await prune { try await store.consumption.prune() }
        try await prune { try await store.activity.prune() }
        try await store.instances.prune()
    }

    /// Deletes page by page until no obsolete row is left, so that it keeps up with any rate of purchases.
    private func prune(_ page: () async throws -> Int) async throws {
        for _ in 0..<Self.pagesAtMost {
            guard try await page() > 0 else { return }
        }
    }

    private static let pagesAtMost = 1_000
}
