import Postgres

extension RelayStore {
    /// So many rows at once: receipts have some kilobytes each.
    private static let rowsAtOnce = 500

    /// Rewrites the private columns of a table's rows in one bucket, a page of those that are left at a time. Index used: the primary key,
    /// which begins with the bucket.
    ///
    /// - Parameters:
    ///   - table: names of ours alone come into the statements.
    ///   - keys: by which is sealed or opened.
    /// - Returns: how many rows were changed.
    func convert(
        _ table: PrivateColumns, bucket: Int16, _ keys: VaultKeys, _ direction: EncryptionRun.Direction
    ) async throws -> Int {
        var changed = 0
        while true {
            let count = try await convertPage(table, bucket: bucket, keys, direction)
            guard count > 0 else { return changed }
            changed += count
        }
    }

    private func convertPage(
        _ table: PrivateColumns, bucket: Int16, _ keys: VaultKeys, _ direction: EncryptionRun.Direction
    ) async throws -> Int {
        let conversion = Conversion(keys: keys, direction: direction)
        return try await pool.withTransaction(timeout: .seconds(60)) { transaction in
            let rows = try await transaction.query(
                PostgresQuery(
                    Self.leftSQL(table, direction),
                    [
                        .int2(bucket), .int4(Int32(Self.rowsAtOnce)),
                        .text(String(decoding: Vault.textMark, as: UTF8.self)), .bytea(Vault.byteMark),
                    ]))
            guard !rows.isEmpty else { return 0 }
            var values = [PostgresValue.int2(bucket)]
            for index in table.key.indices {
                values.append(.textArray(try rows.map { try $0.get(index, as: String.self) }))
            }
            for (index, column) in table.columns.enumerated() {
                let place = table.key.count + index
                switch column.kind {
                case .text:
                    let texts = try rows.map { try $0.get(place, as: String?.self).map(conversion.convert) }
                    values.append(.textArray(texts))
                case .bytes:
                    let bytes = try rows.map { try $0.get(place, as: [UInt8]?.self).map(conversion.convert) }
                    values.append(.byteaArray(bytes))
                }
            }
            let written = try await transaction.query(PostgresQuery(Self.rewriteSQL(table), values))
            guard written.affectedRows == rows.count else {
                throw StoreError.missingRow("a row that is being converted")
            }
            return rows.count
        }
    }

    /// What is not yet as it is to be.
    private static func leftSQL(_ table: PrivateColumns, _ direction: EncryptionRun.Direction) -> String {
        let isSealed = table.columns.map { column in
            switch column.kind {
            case .text: "starts_with(\(column.name), $3)"
            case .bytes: "substring(\(column.name) FROM 1 FOR \(Vault.byteMark.count)) = $4"
            }
        }
        let isLeft = isSealed.map { direction == .seal ? "NOT \($0)" : $0 }
        let key = table.key.map { "\($0.name)::text" }
        return """
            SELECT \((key + table.columns.map(\.name)).joined(separator: ", "))
            FROM \(table.table)
            WHERE bucket = $1 AND (\(isLeft.joined(separator: " OR "))) AND $3::text IS NOT NULL AND $4::bytea IS NOT NULL
            LIMIT $2
            FOR UPDATE
            """
    }

    private static func rewriteSQL(_ table: PrivateColumns) -> String {
        let arrays =
            table.key.indices.map { "$\($0 + 2)::text[]" }
            + table.columns.enumerated().map {
                "$\($0.offset + table.key.count + 2)::\($0.element.kind == .text ? "text" : "bytea")[]"
            }
        let names = table.key.indices.map { "key\($0)" } + table.columns.indices.map { "value\($0)" }
        let sets = table.columns.enumerated().map { "\($0.element.name) = i.value\($0.offset)" }
        let matches = table.key.enumerated().map { "t.\($0.element.name) = i.key\($0.offset)::\($0.element.type)" }
        return """
            UPDATE \(table.table) t
            SET \(sets.joined(separator: ", "))
            FROM unnest(\(arrays.joined(separator: ", "))) AS i(\(names.joined(separator: ", ")))
            WHERE t.bucket = $1 AND \(matches.joined(separator: " AND "))
            """
    }
}

/// Each value as it is to be, whichever it was.
private struct Conversion: Sendable {
    private let sealed: Vault
    private let plain = Vault.plain()
    private let direction: EncryptionRun.Direction

    init(keys: VaultKeys, direction: EncryptionRun.Direction) {
        sealed = Vault()
        sealed.state = .sealed(keys)
        self.direction = direction
    }

    func convert(_ text: String) throws -> String {
        var stored = text
        let bytes = try stored.withUTF8 { text in try sealed.open(text: UnsafeRawBufferPointer(text)) }
        return String(decoding: try (direction == .seal ? sealed : plain).seal(text: bytes), as: UTF8.self)
    }

    func convert(_ bytes: [UInt8]) throws -> [UInt8] {
        let opened = try bytes.withUnsafeBytes { try sealed.open(bytes: $0) }
        return try (direction == .seal ? sealed : plain).seal(bytes: opened)
    }
}
