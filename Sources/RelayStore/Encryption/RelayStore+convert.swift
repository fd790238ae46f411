import Postgres
import RelayCore

extension RelayStore {
    /// So many rows at once: receipts have some kilobytes each.
    private static let rowsAtOnce: Int32 = 500

    /// Rewrites the private columns of a table's rows in one bucket, page by page in the order of the primary key, which begins with the
    /// bucket. Every row is met once at most: rows that are rewritten say so in `sealed_by`.
    ///
    /// - Parameter table: names of ours alone come into the statements.
    /// - Returns: how many rows were changed.
    func convert(_ table: PrivateColumns, bucket: Int16, _ direction: EncryptionRun.Direction) async throws -> Int {
        var (changed, last) = (0, [String]?.none)
        while true {
            let after = last
            let page = try await pool.withTransaction(timeout: .seconds(60)) { transaction in
                try await Self.convertPage(table, bucket: bucket, after: after, direction, transaction)
            }
            changed += page.count
            guard let end = page.last else { return changed }
            last = end
        }
    }

    /// - Parameter after: the key behind which the page begins.
    /// - Returns: the keys of its rows.
    private static func convertPage(
        _ table: PrivateColumns, bucket: Int16, after: [String]?, _ direction: EncryptionRun.Direction,
        _ transaction: PostgresTransaction
    ) async throws -> [[String]] {
        let place = after.map { $0.map { PostgresValue.text($0) } } ?? []
        let rows = try await transaction.query(
            PostgresQuery(
                pageSQL(table, direction, isFirst: after == nil), [.int2(bucket), .int4(rowsAtOnce)] + place))
        guard !rows.isEmpty else { return [] }
        let keys = try rows.map { row in try table.key.indices.map { try row.get($0, as: String.self) } }
        var values = [PostgresValue.int2(bucket), table.writer]
        for index in table.key.indices { values.append(.textArray(keys.map { $0[index] })) }
        for (index, column) in table.columns.enumerated() {
            let place = table.key.count + index
            switch column.kind {
            case .text:
                values.append(.privateTextArray(try rows.map { try open($0, place, as: Private<String>?.self, table) }))
            case .bytes:
                values.append(
                    .privateByteaArray(try rows.map { try open($0, place, as: Private<[UInt8]>.self, table) }))
            }
        }
        let written = try await transaction.query(PostgresQuery(rewriteSQL(table), values))
        guard written.affectedRows == rows.count else {
            throw StoreError.missingRow("a row that is being converted")
        }
        return keys
    }

    /// - Throws: ``VaultError/unreadableRow(_:why:)``, which names no customer.
    private static func open<T: PostgresSealable>(
        _ row: PostgresRow, _ place: Int, as type: T.Type, _ table: PrivateColumns
    ) throws -> T {
        do {
            return try row.open(place)
        } catch let error as PostgresError {
            let key = try table.key.indices.filter { index in
                !table.columns.contains { $0.name == table.key[index].name }
            }.map { "\(table.key[$0].name) \(try row.get($0, as: String.self))" }
            throw VaultError.unreadableRow("\(table.table): \(key.joined(separator: ", "))", why: error.serverMessage)
        }
    }

    /// What is not yet as it is to be.
    private static func isLeft(_ direction: EncryptionRun.Direction) -> String {
        direction == .seal ? "coalesce(t.sealed_by, 0) = 0" : "t.sealed_by IS DISTINCT FROM 0"
    }

    /// How many rows of a table are not yet as they are to be. All of the table is read.
    func countLeft(of table: PrivateColumns, _ direction: EncryptionRun.Direction) async throws -> Int {
        let sql = "SELECT count(*) FROM \(table.table) t WHERE \(Self.isLeft(direction))"
        return try await pool.query(PostgresQuery(sql), timeout: .seconds(600)).first?.get(0) ?? 0
    }

    private static func pageSQL(
        _ table: PrivateColumns, _ direction: EncryptionRun.Direction, isFirst: Bool
    ) -> String {
        let names = table.key.map { "t.\($0.name)" }.joined(separator: ", ")
        let place = table.key.enumerated().map { "$\($0.offset + 3)::text::\($0.element.type)" }.joined(separator: ", ")
        // A key may be private itself: it is not read, but compared as it stands.
        let selected = table.key.map { "concat(t.\($0.name))" } + table.columns.map { "ROW(t.sealed_by, t.\($0.name))" }
        return """
            SELECT \(selected.joined(separator: ", "))
            FROM \(table.table) t
            WHERE t.bucket = $1 AND \(isLeft(direction))\(isFirst ? "" : " AND (\(names)) > (\(place))")
            ORDER BY \(names)
            LIMIT $2
            FOR UPDATE
            """
    }

    private static func rewriteSQL(_ table: PrivateColumns) -> String {
        let arrays =
            table.key.indices.map { "$\($0 + 3)::text[]" }
            + table.columns.enumerated().map {
                "$\($0.offset + table.key.count + 3)::\($0.element.kind == .text ? "text" : "bytea")[]"
            }
        let names = table.key.indices.map { "key\($0)" } + table.columns.indices.map { "value\($0)" }
        let sets = table.columns.enumerated().map { "\($0.element.name) = i.value\($0.offset)" }
        let matches = table.key.enumerated().map { "t.\($0.element.name) = i.key\($0.offset)::\($0.element.type)" }
        return """
            UPDATE \(table.table) t
            SET \(sets.joined(separator: ", ")), sealed_by = $2
            FROM unnest(\(arrays.joined(separator: ", "))) AS i(\(names.joined(separator: ", ")))
            WHERE t.bucket = $1 AND \(matches.joined(separator: " AND "))
            """
    }
}

extension PrivateColumns {
    /// The key that a row of this table is written by: a table has either private texts or private bytes.
    fileprivate var writer: PostgresValue { columns.contains { $0.kind == .bytes } ? .keyOfBytes : .keyOfTexts }
}
