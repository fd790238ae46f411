import Logging
import Metrics
import Postgres

/// Claims due work in a loop: at once while there may be more, else after a signal or a while.
struct WorkLoop: Sendable {
    /// As its metrics name it.
    let name: String
    let wakeup: Wakeup
    /// Interval of looks without a signal.
    let idleTick: @Sendable () -> Duration
    /// After each wait, so that one look serves what comes meanwhile.
    var gap = Duration.zero
    let logger: Logger
    /// Log message if nothing can be claimed.
    let complaint: String

    /// Until the task is cancelled.
    ///
    /// - Parameter step: returns whether there may be more at once.
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
                // The data keys have not been read yet. Where that lasts, the readiness log says why.
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
            // Two that took two of one subscription in the same instant, and a shutdown, are nobody's failure.
            if !(error is CancellationError), !error.isLostRace { failures.increment() }
            throw error
        }
    }
}

extension Error {
    /// Whether another worker took another one of the same subscription in the same instant. The unique indexes that let only
    /// one at a time be sent are named so.
    var isLostRace: Bool {
        (self as? PostgresError)?.constraint?.hasSuffix("_one_sender") == true
    }
}
