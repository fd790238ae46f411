/// The clock, for tests to replace.
struct Timekeeper: Sendable {
    var now: @Sendable () -> ContinuousClock.Instant
    /// Throws `CancellationError`.
    var sleep: @Sendable (Duration) async throws -> Void

    static let system = Timekeeper(now: { .now }, sleep: { try await Task.sleep(for: $0) })
}
