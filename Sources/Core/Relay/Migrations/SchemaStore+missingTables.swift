import Postgres

/// Tables are missing although their migrations are recorded as applied.
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

extension SchemaStore {
    /// Tables that are missing although their migrations are recorded as applied. Empty if there is no schema. Also
    /// empty if a newer version has migrated the database, because it may have dropped a table.
    public func missingTables() async throws -> [String] {
        let tables = Migration.tables
        let names = PostgresValue.textArray(tables.map(\.name))
        let made: SQLTable = ["name": names, "number": .int4Array(tables.map { Int32($0.number) })]
        let newest = Int32(Migration.all.map(\.number).max() ?? 0)
        do {
            return try await database.query(
                """
                SELECT t.name
                FROM \(made, as: "t")
                JOIN schema_migrations m ON m.number = t.number
                WHERE to_regclass(t.name) IS NULL
                  AND NOT EXISTS (SELECT FROM schema_migrations n WHERE n.number > \(.int4(newest)))
                ORDER BY t.number, t.name
                """
            ).map { try $0.get("name") }
        } catch let error as PostgresError where error.sqlState == "42P01" {
            let there: [String] = try await database.query(
                "SELECT t.name FROM \(["name": names], as: "t") WHERE to_regclass(t.name) IS NOT NULL"
            ).map { try $0.get("name") }
            guard !there.isEmpty else { return [] }
            return ["schema_migrations"] + tables.map(\.name).filter { !there.contains($0) }
        }
    }
}

extension Migration {
    /// Each table that exists after all migrations, with the migration that creates it. Without partitions, which
    /// belong to their table.
    static let tables: [(name: String, number: Int)] = {
        var tables: [(name: String, number: Int)] = []
        for migration in all {
            for line in migration.sql.split(separator: "\n") where !line.contains(" PARTITION OF ") {
                if let made = line.name(after: "CREATE TABLE ", "IF NOT EXISTS ") {
                    tables.append((made, migration.number))
                } else if let dropped = line.name(after: "DROP TABLE ", "IF EXISTS ") {
                    tables.removeAll { $0.name == dropped }
                }
            }
        }
        return tables
    }()
}

extension Substring {
    /// The name at the beginning of a statement. Parsed by hand: every process reads all migrations when it starts, and
    /// regular expressions took most of the start-up time.
    fileprivate func name(after command: String, _ condition: String) -> String? {
        guard hasPrefix(command) else { return nil }
        let rest = dropFirst(command.count)
        let name = (rest.hasPrefix(condition) ? rest.dropFirst(condition.count) : rest).prefix {
            $0 == "_" || ("a"..."z").contains($0) || ("0"..."9").contains($0)
        }
        return name.isEmpty ? nil : String(name)
    }
}
