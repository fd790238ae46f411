import Postgres

/// Events of an observer, for a test to wait for.
final class LoadEvents: PostgresObserver {
    enum Event: Sendable {
        case finished(PostgresLane, PostgresError.Code?)
        case load(PostgresLane, PostgresLoad)
        case connected(PostgresLane, isFirst: Bool)
        case disconnected(PostgresLane, PostgresError)
    }

    let events: AsyncStream<Event>
    private let sink: AsyncStream<Event>.Continuation

    init() { (events, sink) = AsyncStream.makeStream() }

    func queryFinished(lane: PostgresLane, duration: Duration, failure: PostgresError.Code?) {
        sink.yield(.finished(lane, failure))
    }

    func loadChanged(lane: PostgresLane, load: PostgresLoad) { sink.yield(.load(lane, load)) }

    func connected(lane: PostgresLane, isFirst: Bool) { sink.yield(.connected(lane, isFirst: isFirst)) }

    func disconnected(lane: PostgresLane, error: PostgresError) { sink.yield(.disconnected(lane, error)) }

    /// Returns at the first matching event after the end of the last wait.
    func wait(for isWanted: @escaping @Sendable (Event) -> Bool) async throws {
        let events = events
        try await within(.seconds(180)) {
            for await event in events where isWanted(event) { return }
            throw NeverHappened()
        }
    }

    func wait(for lane: PostgresLane, _ isWanted: @escaping @Sendable (PostgresLoad) -> Bool) async throws {
        try await wait { event in
            if case .load(lane, let load) = event { return isWanted(load) }
            return false
        }
    }
}
