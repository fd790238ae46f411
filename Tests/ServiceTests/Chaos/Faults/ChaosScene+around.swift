import Foundation
import Postgres

extension ChaosScene {
    /// Returns once a copy (`nil`: any copy) is sending `count` purchases, as far as the database shows.
    func isSending(_ count: Int, copy index: Int? = nil) async throws {
        // A copy's name contains its process id.
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

    /// Returns once `count` calls have no answer for more than a second.
    func isHanging(_ count: Int) async throws {
        try await Awaiting.fact("\(count) calls hang") {
            // At the usual pace no call takes that long.
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

    /// Stops a copy, which later continues with its old state.
    func freeze(_ index: Int, for length: Duration) async throws {
        guard let victim = relay(index)?.process else { return }
        victim.signal(SIGSTOP)
        defer { victim.signal(SIGCONT) }
        try await Task.sleep(for: length)
    }

    func disturb(_ lines: [DatabaseLine], by trouble: DatabaseLine.Trouble, for length: Duration) async throws {
        for line in lines { line.begin(trouble) }
        defer { for line in lines { line.stop(trouble) } }
        try await Task.sleep(for: length)
    }

    /// Opens connections and terminates the service's own, until the server refuses one; keeps that up for `length`.
    func takeConnections(for length: Duration) async throws {
        let patience = ContinuousClock.now + .seconds(60)
        var end: ContinuousClock.Instant?
        var strangers: [PlainConnection] = []
        defer { for stranger in strangers { stranger.leave() } }
        // A startup message: protocol 3.0, user and database.
        let text = Array("user\0relay\0database\0postgres\0\0".utf8)
        let hello: [UInt8] = [0, 0, 0, UInt8(text.count + 8), 0, 3, 0, 0] + text
        while ContinuousClock.now < end ?? patience {
            for _ in 0..<25 where strangers.count < 500 {
                let stranger = try PlainConnection(to: "http://127.0.0.1:\(cluster.port)")
                try await stranger.send(bytes: hello)
                strangers.append(stranger)
            }
            do {
                try await cutConnections(for: .zero)
            } catch {
                if end == nil { end = .now + length }
                try await Task.sleep(for: .milliseconds(200))
            }
        }
        guard end != nil else { throw HarnessError.failed("taking all connections", ["there was always one left"]) }
    }

    /// Loses the primary and promotes the standby. A frozen primary then runs again, and believes that it is the
    /// primary until it is killed.
    func loseThePrimary(for length: Duration, by lose: (DatabaseServer) async throws -> Void) async throws -> Struck {
        guard let pair else { throw HarnessError.failed("losing a primary", ["there is no pair"]) }
        try await isSending(2)
        try await lose(pair.primary)
        try await Task.sleep(for: length)
        try await pair.standby.promote()
        let promoted = Date()
        try await Awaiting.fact("every copy has found the new primary") {
            try await pair.standby.relaySessions()
        } holds: {
            $0 >= count
        }
        try pair.primary.thaw()
        try await Task.sleep(for: .seconds(2))
        try await pair.primary.kill9()
        return Struck(at: promoted)
    }

    func upstream(_ troubles: [String], for length: Duration) async throws {
        try await day.control.trouble(troubles)
        try await Task.sleep(for: length)
        try await day.control.trouble(Self.usualPace)
    }
}
