import Postgres

/// Tables are missing although the migrations that made them are recorded as applied.
public struct DamagedSchema: Error, Equatable, CustomStringConvertible {
    public let tables: [String]

    public init(_ tables: [String]) { self.tables = tables }

    public var description: String {
        let names = tables.joined(separator: ", ")
        let what = tables.count == 1 ? "the table \(names) is" : "the tables \(names) are"
        return
            "the schema is damaged: \(what) missing. Restore what is missing from a backup: `receipt-relay migrate` does not make it again"
    }
}

extension RelayStore {
    private static let missingTablesSQL = """
        SELECT t.name
        FROM unnest($1::text[], $2::int4[]) AS t(name, number)
        JOIN schema_migrations m ON m.number = t.number
        WHERE to_regclass(t.name) IS NULL AND NOT EXISTS (SELECT FROM schema_migrations n WHERE n.number > $3)
        ORDER BY t.number, t.name
        """

    private static let tablesSQL = "SELECT name FROM unnest($1::text[]) AS t(name) WHERE to_regclass(name) IS NOT NULL"

    /// The tables that are missing although their migrations are recorded as applied. None where there is no schema at all, and none
    /// where a newer version has migrated the database: it may have dropped a table.
    public func missingTables() async throws -> [String] {
        let tables = Migration.tables
        do {
            return try await pool.query(
                PostgresQuery(
                    Self.missingTablesSQL,
                    [
                        .textArray(tables.map(\.name)), .int4Array(tables.map { Int32($0.number) }),
                        .int4(Int32(Migration.all.map(\.number).max() ?? 0)),
                    ])
            ).map { try $0.get(0) }
        } catch let error as PostgresError where error.sqlState == "42P01" {
            let there = try await pool.query(
                PostgresQuery(Self.tablesSQL, [.textArray(tables.map(\.name))])
            ).map { try $0.get(0, as: String.self) }
            guard !there.isEmpty else { return [] }
            return ["schema_migrations"] + tables.map(\.name).filter { !there.contains($0) }
        }
    }
}

extension Migration {
    /// Each table that stands after all migrations, with the migration that makes it. Without partitions, which go with their table.
    static let tables: [(name: String, number: Int)] = {
        var tables: [(name: String, number: Int)] = []
        for migration in all {
            for line in migration.sql.split(separator: "\n") where !line.contains(" PARTITION OF ") {
                if let made = line.prefixMatch(of: /CREATE TABLE (?:IF NOT EXISTS )?([a-z_0-9]+)/) {
                    tables.append((String(made.1), migration.number))
                } else if let dropped = line.prefixMatch(of: /DROP TABLE (?:IF EXISTS )?([a-z_0-9]+)/) {
                    tables.removeAll { $0.name == dropped.1 }
                }
            }
        }
        return tables
    }()
}
