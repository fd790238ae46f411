import Postgres

/// Cost of a statement for the server since the last reset.
struct StatementFigure: Sendable {
    var text: String
    var calls: Int
    var rows: Int
    /// Pages that the statement touched, in memory or not.
    var buffers: Int
}

extension TestDatabase {
    struct NotCounted: Error, CustomStringConvertible {
        let description = """
            this PostgreSQL does not count statements: start it with shared_preload_libraries = 'pg_stat_statements' (and \
            pg_stat_statements.track = none), as scripts/test does
            """
    }

    /// Session parameters that measure statements. Only a superuser may set them.
    static let counting = ["pg_stat_statements.track": "'all'"]

    nonisolated func prepareCounting() async throws {
        guard try await value("SHOW shared_preload_libraries", as: String.self).contains("pg_stat_statements") else {
            throw NotCounted()
        }
        try await run("CREATE EXTENSION pg_stat_statements")
    }

    nonisolated func forgetFigures() async throws {
        try await run(
            "SELECT pg_stat_statements_reset(0, d.oid, 0) FROM pg_database d WHERE d.datname = current_database()")
    }

    /// Figures by the server's number of the statement.
    nonisolated func figures() async throws -> [Int64: StatementFigure] {
        let rows = try await hand.query(
            """
            SELECT s.queryid, min(s.query) AS text, sum(s.calls)::int8 AS calls, sum(s.rows)::int8 AS rows,
                   sum(s.shared_blks_hit + s.shared_blks_read)::int8 AS buffers
            FROM pg_stat_statements s
            JOIN pg_database d ON d.oid = s.dbid
            WHERE d.datname = current_database()
            GROUP BY s.queryid
            """)
        return try rows.reduce(into: [:]) { figures, row in
            figures[try row.get("queryid")] = StatementFigure(
                text: try row.get("text"), calls: try row.get("calls"), rows: try row.get("rows"),
                buffers: try row.get("buffers"))
        }
    }
}
