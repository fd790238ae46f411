import Postgres
import RelayCore
import TestRun

struct NeverHappened: Error {}

/// Repeats `condition` until it holds. Gives up after a time that is long enough for any machine.
func eventually(_ condition: () async throws -> Bool) async throws {
    let limit = ContinuousClock.now + Duration.seconds(90).paced
    while try await !condition() {
        guard ContinuousClock.now < limit else { throw NeverHappened() }
        try await Task.sleep(for: .milliseconds(5))
    }
}

extension TestDatabase {
    /// Returns when that many statements wait for locks of other sessions.
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

/// The PostgreSQL error of `body`; nil if it throws none.
func postgresError<T>(_ body: () async throws -> T) async -> PostgresError? {
    do {
        _ = try await body()
        return nil
    } catch {
        return error as? PostgresError
    }
}
