import NIOConcurrencyHelpers
import Relay
import RelayCore

/// Summaries, read at most once a second for all visitors with the same scope.
struct ScopedSummaries: Sendable {
    let store: RelayStore
    private let recent = NIOLockedValueBox<[PublisherID?: Recent<OpsSummary>]>([:])

    func value(in scope: OpsScope) async throws -> OpsSummary {
        let recent = recent.withLockedValue { [store] known in
            if let one = known[scope.publisher] { return one }
            let one = Recent { try await store.ops.summary(isCounting: false, in: scope) }
            known[scope.publisher] = one
            return one
        }
        return try await recent.value()
    }
}

/// A value that all callers in this process share, read at most once per lifetime. Pages reload by themselves, and ten
/// browsers must not cost more than one.
actor Recent<Value: Sendable> {
    private let lifetime: Duration
    private let read: @Sendable () async throws -> Value
    /// The value and the time when its read began.
    private var kept: (value: Value, since: ContinuousClock.Instant)?
    private var underWay: Task<Value, any Error>?

    init(lifetime: Duration = .seconds(1), _ read: @escaping @Sendable () async throws -> Value) {
        self.lifetime = lifetime
        self.read = read
    }

    /// - Throws: the read's error, to all callers that wait for this read. The next caller starts a new one.
    func value() async throws -> Value {
        if let kept, ContinuousClock.now - kept.since < lifetime { return kept.value }
        if let underWay { return try await underWay.value }
        let begin = ContinuousClock.now
        // A task of its own, since the first caller may cancel.
        let task = Task { [read] in try await read() }
        underWay = task
        defer { underWay = nil }
        let value = try await task.value
        kept = (value, begin)
        return value
    }
}
