import Postgres

extension RelayStore {
    /// Asks the database what time it is, and tells ``clock``.
    public func readClock() async throws {
        let sent = ContinuousClock.now
        guard let row = try await pool.query(PostgresQuery("SELECT clock_timestamp()"), timeout: .seconds(3)).first
        else {
            return
        }
        clock.observe(try row.timestamp(0), sent: sent)
    }
}
