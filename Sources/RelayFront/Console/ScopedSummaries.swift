import NIOConcurrencyHelpers
import RelayCore
import RelayStore

/// How things stand, read once a second for all who may see the same.
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

/// What is read once for all of this process that ask within a second: pages keep themselves up to date, and ten browsers are to
/// cost what one does.
actor Recent<Value: Sendable> {
    private let lifetime: Duration
    private let read: @Sendable () async throws -> Value
    /// With when its read began.
    private var kept: (value: Value, since: ContinuousClock.Instant)?
    private var underWay: Task<Value, any Error>?

    init(lifetime: Duration = .seconds(1), _ read: @escaping @Sendable () async throws -> Value) {
        self.lifetime = lifetime
        self.read = read
    }

    /// - Throws: what the read throws, to all who wait for it; the next one who asks reads again.
    func value() async throws -> Value {
        if let kept, ContinuousClock.now - kept.since < lifetime { return kept.value }
        if let underWay { return try await underWay.value }
        let begin = ContinuousClock.now
        // Of nobody's request: who asked first may hang up.
        let task = Task { [read] in try await read() }
        underWay = task
        defer { underWay = nil }
        let value = try await task.value
        kept = (value, begin)
        return value
    }
}
