import Postgres

extension RelayStore {
    /// The App Store repeats a notification for a week, and gives it out by its history for 180 days.
    private static let pruneNamesSQL = """
        DELETE FROM notification_names WHERE (bucket, name) IN (
            SELECT bucket, name FROM notification_names
            WHERE accepted_on < (now() AT TIME ZONE 'UTC')::date - 200 LIMIT 5000
            FOR UPDATE SKIP LOCKED)
        """

    /// Forgets which notifications have come, where they cannot come again; a bounded number at a time.
    public func pruneNotificationNames() async throws -> Int {
        try await pool.query(PostgresQuery(Self.pruneNamesSQL)).affectedRows
    }
}
