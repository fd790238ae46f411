import Logging
import Metrics

/// Runs a feed of other copies' changes. While it fails, held polls see those changes only when they end, and cached
/// answers are as old as their lifetime allows.
struct FeedLoop: Sendable {
    let name: String
    let tick: Duration
    let logger: Logger

    /// Runs until the task is cancelled. A warning marks the first failure of several in a row, a notice their end.
    func run(_ step: @Sendable () async throws -> Void) async {
        let failures = Counter(label: "relay_worker_failures", dimensions: [("worker", name)])
        var isFailing = false
        while !Task.isCancelled {
            do {
                try await step()
                if isFailing { logger.notice("a feed is read again", metadata: ["feed": "\(name)"]) }
                isFailing = false
            } catch {
                guard !Task.isCancelled else { return }
                failures.increment()
                if !isFailing {
                    logger.warning(
                        "a feed of other copies' changes cannot be read",
                        metadata: ["feed": "\(name)", "error": "\(error)"])
                }
                isFailing = true
            }
            try? await Task.sleep(for: tick)
        }
    }
}
