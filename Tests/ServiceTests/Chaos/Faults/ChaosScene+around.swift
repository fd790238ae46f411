import Foundation
import Postgres

extension ChaosScene {
    /// Returns once that copy (nil: any) is in the middle of sending `count` purchases, as far as can be told from outside.
    func isSending(_ count: Int, copy index: Int? = nil) async throws {
        // A copy's name has its process id in it.
        let owner = index.flatMap { relay($0) }.map { "%-\($0.process.pid)-%" } ?? "%"
        _ = try await TestDatabase.withPool(day.database.url) { pool in
            try await Awaiting.fact("\(count) purchases are on their way") {
                try await pool.query(
                    SQL(
                        "SELECT count(*) FROM pursuits WHERE sending AND due_at > now() AND owner LIKE $1",
                        [.text(owner)])
                ).first?.get(0, as: Int.self) ?? 0
            } holds: {
                $0 >= count
            }
        }
    }

    /// Returns once that many calls are left without an answer.
    func isHanging(_ count: Int) async throws {
        try await Awaiting.fact("\(count) calls hang") {
            // At the usual pace none is under way for so long.
            let before = Date(timeIntervalSinceNow: -1)
            return try await self.day.control.payments().count { $0.endedAt == nil && $0.startedAt < before }
        } holds: {
            $0 >= count
        }
    }

    func cutConnections(for length: Duration) async throws {
        let end = ContinuousClock.now + length
        let name = day.database.name
        repeat {
            _ = try await TestDatabase.query(
                on: cluster.url,
                SQL(
                    """
                    SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
                    WHERE datname = $1 AND application_name = 'receipt-relay'
                    """, [.text(name)]))
            try await Task.sleep(for: .milliseconds(700))
        } while ContinuousClock.now < end
    }

    func upstream(_ troubles: [String], for length: Duration) async throws {
        try await day.control.trouble(troubles)
        try await Task.sleep(for: length)
        try await day.control.trouble(Self.usualPace)
    }
}
