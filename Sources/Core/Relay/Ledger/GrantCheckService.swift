public import Logging
import Metrics
public import ServiceLifecycle

/// Runs the ``GrantCheck``: immediately after an upgrade, then every few hours. Any number of copies may run it; only
/// one at a time checks.
public struct GrantCheckService: Service {
    private let check: GrantCheck
    private let loop: WorkLoop
    private let logger: Logger
    private let interval: Duration

    public init(store: RelayStore, logger: Logger, interval: Duration = .seconds(5)) {
        check = GrantCheck(store: store)
        loop = WorkLoop(
            name: "grant_check", wakeup: Wakeup(), idleTick: { interval }, logger: logger,
            complaint: "granted access cannot be checked")
        self.logger = logger
        self.interval = interval
    }

    public func run() async throws {
        await cancelWhenGracefulShutdown { await loop.run(runOnce) }
    }

    /// Runs at most as long as the pause after it, so that the database is idle half of the time.
    ///
    /// - Returns: false, so that the pause always follows.
    func runOnce() async throws -> Bool {
        let found = try await check.run(budget: interval)
        guard found != GrantCheck.Found() else { return false }
        for (kind, count) in [("unnumbered", found.unnumbered), ("alone", found.alone), ("unwatched", found.unwatched)]
        {
            Counter(label: "relay_grants_corrected", dimensions: [("kind", kind)]).increment(by: count)
        }
        logger.notice(
            "granted access was given an owner's number and somebody who looks again",
            metadata: [
                "unnumbered": "\(found.unnumbered)", "alone": "\(found.alone)", "unwatched": "\(found.unwatched)",
            ])
        return false
    }
}
