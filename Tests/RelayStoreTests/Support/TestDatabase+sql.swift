import Postgres
import RelayCore

extension TestDatabase {
    /// - Returns: the number of written rows.
    @discardableResult
    nonisolated func run(_ sql: String, _ parameters: PostgresValue...) async throws -> Int {
        try await hand.query(SQL(sql, parameters)).affectedRows
    }

    /// The first column of every row.
    nonisolated func column<T: PostgresDecodable & Sendable>(
        _ sql: String, _ parameters: PostgresValue..., as type: T.Type = T.self
    ) async throws -> [T] {
        try await hand.query(SQL(sql, parameters)).map { try $0.get(0) }
    }

    /// The first column of the only row.
    nonisolated func value<T: PostgresDecodable & Sendable>(
        _ sql: String, _ parameters: PostgresValue..., as type: T.Type = T.self
    ) async throws -> T {
        let rows = try await hand.query(SQL(sql, parameters))
        guard rows.count == 1, let row = rows.first else { throw NoSingleRow(count: rows.count, sql: sql) }
        return try row.get(0)
    }

    nonisolated func count(_ table: String, where condition: String = "true") async throws -> Int {
        try await value("SELECT count(*) FROM \(table) WHERE \(condition)")
    }

    nonisolated func now() async throws -> Timestamp {
        Timestamp(
            microseconds: try await value("SELECT clock_timestamp()", as: PostgresTimestamp.self).microsecondsSince1970)
    }

    /// The text of all rows, one line each, to compare with a later state.
    nonisolated func picture(of table: String) async throws -> [String] {
        try await column("SELECT t::text FROM \(table) t ORDER BY 1")
    }

    struct NoSingleRow: Error {
        let count: Int
        let sql: String
    }
}
