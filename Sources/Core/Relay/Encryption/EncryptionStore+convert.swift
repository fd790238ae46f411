import Postgres
import RelayCore

extension EncryptionStore {
    /// Rows in a page: receipts have a few kilobytes each.
    private static let rowsAtOnce: Int32 = 500

    /// Rewrites the private columns of a table's rows in one bucket, page by page. The order is that of the primary
    /// key, which begins with the bucket. `sealed_by` marks rewritten rows.
    ///
    /// - Returns: how many rows were changed.
    func convert(_ table: PrivateColumns, bucket: Int16, _ direction: EncryptionRun.Direction) async throws -> Int {
        var (changed, last) = (0, [String]?.none)
        while true {
            let after = last
            let page = try await database.withTransaction(timeout: .seconds(60)) { transaction in
                try await Self.convertPage(table, bucket: bucket, after: after, direction, transaction)
            }
            changed += page.count
            guard let end = page.last else { return changed }
            last = end
        }
    }

    /// - Parameter after: key of the previous page's last row.
    /// - Returns: the keys of the page's rows.
    private static func convertPage(
        _ table: PrivateColumns, bucket: Int16, after: [String]?, _ direction: EncryptionRun.Direction,
        _ transaction: PostgresTransaction
    ) async throws -> [[String]] {
        let rows = try await transaction.query(page(table, bucket: bucket, after: after, direction))
        guard !rows.isEmpty else { return [] }
        let keys = try rows.map { try $0.get("key", as: [String].self) }
        var values: SQLTable = [:]
        for index in table.key.indices { values = values + ["key\(index)": .textArray(keys.map { $0[index] })] }
        for column in table.columns {
            let opened: PostgresValue =
                switch column.kind {
                case .text: .privateTextArray(try rows.map { try open($0, column, as: Private<String>?.self, table) })
                case .bytes: .privateByteaArray(try rows.map { try open($0, column, as: Private<[UInt8]>.self, table) })
                }
            values = values + [column.name: opened]
        }
        let written = try await transaction.query(rewrite(table, bucket: bucket, values))
        guard written.affectedRows == rows.count else {
            throw StoreError.missingRow("a row that is being converted")
        }
        return keys
    }

    /// - Throws: ``VaultError/unreadableRow(_:why:)``, which names no customer.
    private static func open<T: PostgresSealable>(
        _ row: PostgresRow, _ column: PrivateColumns.Column, as type: T.Type, _ table: PrivateColumns
    ) throws -> T {
        do {
            return try row.open(column.column)
        } catch let error as PostgresError {
            let key = zip(table.key, try row.get("key", as: [String].self)).filter { part, _ in
                !table.columns.contains { $0.name == part.name }
            }.map { "\($0.name) \($1)" }
            throw VaultError.unreadableRow("\(table.table): \(key.joined(separator: ", "))", why: error.serverMessage)
        }
    }

    /// The condition that a row is not converted yet.
    private static func isLeft(_ direction: EncryptionRun.Direction) -> SQL {
        direction == .seal ? "coalesce(t.sealed_by, 0) = 0" : "t.sealed_by IS DISTINCT FROM 0"
    }

    /// All tables of the database whose rows say whether they are sealed, also those of features that this build lacks.
    func sealableTables() async throws -> [String] {
        try await database.query(
            """
            SELECT c.oid::regclass::text AS name FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
            WHERE a.attname = 'sealed_by' AND NOT a.attisdropped AND c.relkind IN ('r', 'p') AND NOT c.relispartition
                AND pg_table_is_visible(c.oid)
            ORDER BY 1
            """
        ).map { try $0.get("name") }
    }

    /// Number of a table's rows that are not converted yet. Reads the whole table.
    func countLeft(of table: String, _ direction: EncryptionRun.Direction) async throws -> Int {
        // A statement by itself may take fifteen seconds, whatever its timeout.
        try await database.withTransaction(timeout: .seconds(3_600)) { transaction in
            try await transaction.query(
                "SELECT count(*) FROM \(unescaped: table) t WHERE \(Self.isLeft(direction))"
            ).first?.get(0) ?? 0
        }
    }

    /// A private part of the key is compared in its stored form.
    private static func page(
        _ table: PrivateColumns, bucket: Int16, after: [String]?, _ direction: EncryptionRun.Direction
    ) -> SQL {
        let key = table.key.map { "t.\($0.name)" }.joined(separator: ", ")
        let texts = table.key.map { "concat(t.\($0.name))" }.joined(separator: ", ")
        let columns = table.columns.map { "ROW(t.sealed_by, t.\($0.name)) AS \($0.name)" }.joined(separator: ", ")
        let isAfter: SQL =
            after.map { after in
                let place: [SQL] = zip(table.key, after).map { "\(.text($1))::\(unescaped: $0.type)" }
                return " AND (\(unescaped: key)) > (\(place.dropFirst().reduce(place[0]) { "\($0), \($1)" }))"
            } ?? ""
        return """
            SELECT ARRAY[\(unescaped: texts)] AS key, \(unescaped: columns)
            FROM \(unescaped: table.table) t
            WHERE t.bucket = \(.int2(bucket)) AND \(isLeft(direction))\(isAfter)
            ORDER BY \(unescaped: key)
            LIMIT \(.int4(rowsAtOnce))
            FOR UPDATE
            """
    }

    /// - Parameter values: the rows' keys as texts, `key0` and so on, and their private columns by name.
    private static func rewrite(_ table: PrivateColumns, bucket: Int16, _ values: SQLTable) -> SQL {
        let sets = table.columns.map { "\($0.name) = i.\($0.name)" }.joined(separator: ", ")
        let matches = table.key.enumerated().map { "t.\($1.name) = i.key\($0)::\($1.type)" }.joined(separator: " AND ")
        // A table has either private texts or private bytes.
        let writer = table.columns.contains { $0.kind == .bytes } ? PostgresValue.keyOfBytes : .keyOfTexts
        return """
            UPDATE \(unescaped: table.table) t
            SET \(unescaped: sets), sealed_by = \(writer)
            FROM \(values, as: "i")
            WHERE t.bucket = \(.int2(bucket)) AND \(unescaped: matches)
            """
    }
}
