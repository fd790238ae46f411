import Metrics

/// How often a worker looks for work, how long that takes, and how often it comes to nothing.
struct RoundMetrics: Sendable {
    private let duration: Timer
    private let failures: Counter

    init(_ worker: String) {
        duration = Timer(label: "relay_worker_round_duration", dimensions: [("worker", worker)])
        failures = Counter(label: "relay_worker_failures", dimensions: [("worker", worker)])
    }

    func measure(_ round: () async throws -> Bool) async throws -> Bool {
        let begin = ContinuousClock.now
        defer { duration.record(duration: ContinuousClock.now - begin) }
        do {
            return try await round()
        } catch {
            // Two that took two of one subscription in the same instant, and a shutdown, are nobody's failure.
            if !(error is CancellationError), !error.isLostRace { failures.increment() }
            throw error
        }
    }
}
