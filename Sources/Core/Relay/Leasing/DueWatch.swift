public import Logging
public import ServiceLifecycle

/// Polls for due work on behalf of all loops of a process, and wakes those that have some. Code that adds work in this
/// process signals the loops itself. The poll finds work of other processes, and work whose time has come.
public struct DueWatch: Service {
    private let store: RelayStore
    private let signal: @Sendable (DueWork) -> Void
    private let logger: Logger

    /// Polling interval of loops that a watch wakes.
    public static let fallback = Duration.seconds(10)

    /// - Parameter signal: wakes the loops for this kind of work.
    public init(
        store: RelayStore, logger: Logger, signal: @escaping @Sendable (DueWork) -> Void
    ) {
        self.store = store
        self.signal = signal
        self.logger = logger
    }

    public func run() async throws {
        await cancelWhenGracefulShutdown {
            var pace = WatchPace()
            while !Task.isCancelled {
                let found = await look(within: pace.horizon)
                try? await Task.sleep(for: pace.pause(after: found))
            }
        }
    }

    private func look(within horizon: Duration) async -> DueLook {
        do {
            let found = try await store.queues.due(within: horizon)
            for work in found.works { signal(work) }
            return found
        } catch {
            // Wakes all loops. Each tries to claim, and logs its own failure.
            logger.debug("it is not known what is due", metadata: ["error": "\(error)"])
            for work in DueWork.allCases { signal(work) }
            return DueLook(works: DueWork.allCases, isAlone: false)
        }
    }
}

/// Polling interval: a quarter of a second, or a second while nothing happens and no other copy adds work. A slow poll
/// also finds work that becomes due before the next one. Only work that is added during the pause waits for its end,
/// such as an operator's command or a purchase's first short retry.
struct WatchPace {
    static let quick = Duration.milliseconds(250)
    static let slow = Duration.seconds(1)
    private static let quietLooks = 8

    private var emptyLooks = 0

    /// How far ahead the next poll looks.
    var horizon: Duration { emptyLooks >= Self.quietLooks ? Self.slow : .zero }

    mutating func pause(after look: DueLook) -> Duration {
        let seen = horizon
        emptyLooks = look.works.isEmpty && look.isAlone ? emptyLooks + 1 : 0
        return emptyLooks > 0 ? max(seen, Self.quick) : Self.quick
    }
}
