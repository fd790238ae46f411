import Logging
import Metrics
import Postgres

/// Claims due work in a loop: at once while there may be more, else after a signal or an interval.
struct WorkLoop: Sendable {
    /// Name in its metrics.
    let name: String
    let wakeup: Wakeup
    /// Interval between claims without a signal.
    let idleTick: @Sendable () -> Duration
    /// Delay after each wait, so that one claim serves all signals meanwhile.
    var gap = Duration.zero
    let logger: Logger
    /// Log message if nothing can be claimed.
    let complaint: String

    /// Runs until the task is cancelled.
    ///
    /// - Parameter step: claims work, and returns whether there may be more.
    func run(_ step: () async throws -> Bool) async {
        let duration = Timer(label: "relay_worker_round_duration", dimensions: [("worker", name)])
        let failures = Counter(label: "relay_worker_failures", dimensions: [("worker", name)])
        while !Task.isCancelled {
            do {
                if try await measure(step, duration, failures) { continue }
            } catch is CancellationError {
                return
            } catch let error where error.isLostRace {
                continue
            } catch let error as PostgresError where error.code == .locked {
                // The data keys have not been read yet. If that lasts, the readiness log says why.
                try? await Task.sleep(for: .milliseconds(100))
                continue
            } catch {
                guard !Task.isCancelled else { return }
                logger.warning("\(complaint)", metadata: ["error": "\(error)"])
                try? await Task.sleep(for: .seconds(1))
            }
            await wakeup.wait(atMost: idleTick())
            if gap > .zero { try? await Task.sleep(for: gap) }
        }
    }

    private func measure(_ step: () async throws -> Bool, _ duration: Timer, _ failures: Counter) async throws -> Bool {
        let begin = ContinuousClock.now
        defer { duration.record(duration: ContinuousClock.now - begin) }
        do {
            return try await step()
        } catch {
            // A lost race for the same subscription, and a shutdown, do not count as failures.
            if !(error is CancellationError), !error.isLostRace { failures.increment() }
            throw error
        }
    }
}

extension Error {
    /// Whether another worker claimed another row of the same subscription at the same time. The unique indexes that
    /// allow one sender at a time have this suffix.
    var isLostRace: Bool {
        (self as? PostgresError)?.constraint?.hasSuffix("_one_sender") == true
    }
}
