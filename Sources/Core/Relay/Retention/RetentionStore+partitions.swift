import Logging
import Postgres
import RelayCore

extension RetentionStore {
    static let partitionedTables = PartitionedTable.allCases.map(\.rawValue)
    private static let week = 7
    /// Free space in each page for the update that ends a row.
    private static let options = [
        "validations": " WITH (fillfactor = 85)", "webhook_deliveries": " WITH (fillfactor = 90)",
    ]

    /// Creates missing partitions of this week and the next three. Skips one whose rows are already in the default
    /// partition.
    public func makePartitions() async throws {
        let tables: SQLTable = ["name": .textArray(Self.partitionedTables)]
        let missing = try await database.query(
            """
            SELECT t.name, w.start - DATE 'epoch' AS first_day
            FROM \(tables, as: "t")
            CROSS JOIN (
                SELECT date_trunc('week', now() AT TIME ZONE 'UTC')::date + 7 * n AS start FROM generate_series(0, 3) AS n
            ) w
            WHERE to_regclass(t.name || '_' || to_char(w.start, 'YYYYMMDD')) IS NULL
            """)
        for row in missing {
            let table = try row.get("name", as: String.self)
            guard Self.partitionedTables.contains(table) else { continue }
            try await makePartition(of: table, day: try row.get("first_day"))
        }
    }

    /// The statement contains names and bounds as text, since data definition takes no parameters. The names come from
    /// the list above, the bounds from dates.
    private func makePartition(of table: String, day: Int) async throws {
        let (from, to) = (Self.date(day), Self.date(day + Self.week))
        let script = """
            SET LOCAL lock_timeout = '1s';
            CREATE TABLE IF NOT EXISTS \(table)_\(from.filter { $0 != "-" }) PARTITION OF \(table)
                FOR VALUES FROM ('\(from)') TO ('\(to)')\(Self.options[table] ?? "");
            """
        do {
            try await database.withTransaction { try await $0.execute(script: script) }
        } catch let error as PostgresError where ["23514", "42P07", "55P03", "42P17"].contains(error.sqlState) {
            memory.logger.debug("a partition is left for later", metadata: ["error": "\(error.shortDescription)"])
        }
    }

    private static func date(_ day: Int) -> String {
        String(Timestamp(seconds: Int64(day) * 86_400).rfc3339.prefix(10))
    }

    /// Deletes expired Idempotency-Keys, a bounded number at a time.
    public func pruneIdempotencyKeys() async throws -> Int {
        try await database.query(
            """
            DELETE FROM idempotency_keys WHERE (bucket, api_key, key) IN (
                SELECT bucket, api_key, key FROM idempotency_keys WHERE expires_at < now() LIMIT 5000
                FOR UPDATE SKIP LOCKED)
            """
        ).affectedRows
    }
}
