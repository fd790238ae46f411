import Postgres
import RelayCore

struct NeverHappened: Error {}

/// Asks again and again until it is so, and gives up long after any machine would have got there.
func eventually(_ condition: () async throws -> Bool) async throws {
    let limit = ContinuousClock.now + .seconds(180)
    while try await !condition() {
        guard ContinuousClock.now < limit else { throw NeverHappened() }
        try await Task.sleep(for: .milliseconds(5))
    }
}

extension TestDatabase {
    /// Returns when that many statements wait for locks that somebody else holds.
    nonisolated func waitUntilBlocked(_ count: Int = 1) async throws {
        try await eventually {
            try await value(
                """
                SELECT count(*) FROM pg_stat_activity
                WHERE datname = current_database() AND wait_event_type = 'Lock'
                """, as: Int.self) >= count
        }
    }
}

/// The error that `body` throws, nil where it throws none or another kind.
func postgresError<T>(_ body: () async throws -> T) async -> PostgresError? {
    do {
        _ = try await body()
        return nil
    } catch {
        return error as? PostgresError
    }
}
