public import Logging
public import RelayStore
public import ServiceLifecycle

/// Polls for due work on behalf of all loops of a process, and wakes those that have some. Code that adds work in this process rings by
/// itself. This finds the work that other processes added, and work whose time has come.
public struct DueWatch: Service {
    private let store: RelayStore
    private let signal: @Sendable (DueWork) -> Void
    private let logger: Logger

    /// Interval of looks of loops that a watch wakes.
    public static let fallback = Duration.seconds(10)

    /// - Parameter signal: wakes the loops that work on it.
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
            // Each loop then tries, and logs what fails.
            logger.debug("it is not known what is due", metadata: ["error": "\(error)"])
            for work in DueWork.allCases { signal(work) }
            return DueLook(works: DueWork.allCases, isAlone: false)
        }
    }
}

/// How often a process looks for due work: four times a second, or once where nothing happens and no other copy adds work. A slow look asks
/// for what will be due before the next one. What is added during the pause and due within it waits for its end: an operator's command
/// adds it, or the first short retry of a purchase.
struct WatchPace {
    static let quick = Duration.milliseconds(250)
    static let slow = Duration.seconds(1)
    private static let quietLooks = 8

    private var emptyLooks = 0

    /// How far ahead the next look sees.
    var horizon: Duration { emptyLooks >= Self.quietLooks ? Self.slow : .zero }

    mutating func pause(after look: DueLook) -> Duration {
        let seen = horizon
        emptyLooks = look.works.isEmpty && look.isAlone ? emptyLooks + 1 : 0
        return emptyLooks > 0 ? max(seen, Self.quick) : Self.quick
    }
}
