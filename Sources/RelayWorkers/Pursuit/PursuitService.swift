import Logging
import Metrics
import NIOConcurrencyHelpers
import Postgres
import RelayCore
import RelayStore
import ServiceLifecycle

/// Takes up what is due and sees it through, in as many copies as wanted.
public final class PursuitService: Service {
    private let store: RelayStore
    private let settings: PursuitSettings
    private let logger: Logger
    private let leases: LeaseKeeper
    private let writer: PursuitWriter
    private let desk: ReadDesk
    private let worker: PursuitWorker
    private let wakeup: Wakeup
    private let running = NIOLockedValueBox(0)

    /// - Parameter wakeup: rung when this process has accepted a purchase.
    public init(store: RelayStore, upstream: Upstream, settings: PursuitSettings, wakeup: Wakeup, logger: Logger) {
        self.store = store
        self.settings = settings
        self.logger = logger
        self.wakeup = wakeup
        leases = LeaseKeeper(store: store, lease: settings.lease, logger: logger)
        writer = PursuitWriter(store: store)
        desk = ReadDesk(
            store: store, upstream: upstream, leases: leases, interval: settings.reads.interval, lease: settings.lease)
        worker = PursuitWorker(
            store: store, upstream: upstream, writer: writer, desk: desk, leases: leases, settings: settings,
            logger: logger)
    }

    /// How many pursuits this process holds.
    public var held: Int { leases.count }

    /// Until a graceful shutdown: then nothing new is taken up, steps under way get their grace, and every lease that is left
    /// goes back.
    public func run() async throws {
        let keeping = Task { await leases.run() }
        await cancelWhenGracefulShutdown { await self.claimUntilCancelled() }
        await settleDown()
        keeping.cancel()
        await leases.giveBackAll()
    }

    /// Takes up what is due now, once.
    ///
    /// - Returns: whether there may be more.
    func runOnce() async throws -> Bool {
        let limit = min(settings.maxConcurrent - running.withLockedValue { $0 }, 200)
        guard limit > 0 else { return false }
        let claimedAt = ContinuousClock.now
        let claimed = try await store.claimDue(limit: limit, lease: settings.lease)
        for pursuit in claimed { start(pursuit, claimedAt: claimedAt) }
        return claimed.count == limit
    }

    private func start(_ claimed: ClaimedPursuit, claimedAt: ContinuousClock.Instant) {
        running.withLockedValue { $0 += 1 }
        leases.hold(claimed, since: claimedAt)
        let task = Task {
            await worker.run(claimed)
            let wasFull = running.withLockedValue { running in
                defer { running -= 1 }
                return running >= settings.maxConcurrent
            }
            if wasFull { wakeup.ring() }
        }
        leases.attach(task, to: claimed)
    }

    private func claimUntilCancelled() async {
        while !Task.isCancelled {
            do {
                if try await runOnce() { continue }
            } catch let error as PostgresError where error.constraint == "pursuits_one_sender" {
                // Another worker took another request of the same subscription in the same instant.
                continue
            } catch is CancellationError {
                return
            } catch {
                logger.warning("nothing can be taken up: the database is away", metadata: ["error": "\(error)"])
                try? await Task.sleep(for: .seconds(1))
            }
            await wakeup.wait(atMost: settings.idleTick)
        }
    }

    private func settleDown() async {
        let end = ContinuousClock.now + settings.shutdownGrace
        while running.withLockedValue({ $0 }) > 0, ContinuousClock.now < end {
            await wakeup.wait(atMost: .milliseconds(50))
        }
        leases.cancelAll()
        await writer.drain()
    }
}
