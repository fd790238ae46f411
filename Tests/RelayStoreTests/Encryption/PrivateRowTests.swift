import Foundation
import Postgres
import RelayCore
import Testing

@testable import Relay

/// Each row records whether its values are sealed, and every statement preserves that.
@Suite struct PrivateRowTests {
    @Test func everyTableWithPrivateColumnsSaysByWhatARowIsSealed() async throws {
        try await withStore { database, _ in
            let tables = try await database.column(
                """
                SELECT c.relname::text FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
                WHERE a.attname = 'sealed_by' AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND NOT a.attnotnull
                ORDER BY 1
                """, as: String.self)
            #expect(tables == PrivateColumns.all.map(\.table).sorted())
            for table in PrivateColumns.all {
                #expect(Set(table.columns.map(\.kind)).count == 1, "\(table.table): its rows are sealed by one key")
            }
        }
    }

    @Test func aPrivateColumnIsReadByOpeningItAlone() async throws {
        try await withStore { _, store in
            let id = try await store.take(.sample(customer: "ana@example.test"))
            func row(_ columns: String) async throws -> PostgresRow {
                let sql = """
                    SELECT \(columns) FROM validations v JOIN receipts r USING (bucket, accepted_on, id) WHERE id = $1
                    """
                return try #require(try await store.database.query(SQL(sql, [.uuid(id.uuid)])).first)
            }
            let opened = try await row(
                "ROW(v.sealed_by, v.email), ROW(r.sealed_by, r.body), ROW(v.sealed_by, v.reason)")
            #expect(try opened.open(0, as: Private<String>.self).value == "ana@example.test")
            #expect(try opened.open(1, as: Private<[UInt8]>.self).value == [0x30, 0x03, 1, 2, 3])
            #expect(try opened.open(2, as: Private<String>?.self) == nil)
            #expect(throws: PostgresError.self) { try opened.open(2, as: Private<String>.self) }
            #expect(throws: PostgresError.self) { try opened.get(0, as: String.self) }
            #expect(throws: PostgresError.self) { try opened.get(1, as: [UInt8].self) }
            let bare = try await row("v.email, r.body, v.offer_id")
            #expect(throws: PostgresError.self) { try bare.get(0, as: String.self) }
            #expect(throws: PostgresError.self) { try bare.get(0, as: String?.self) }
            #expect(throws: PostgresError.self) { try bare.get("email", as: String.self) }
            #expect(throws: PostgresError.self) { try bare.get(1, as: [UInt8].self) }
            #expect(throws: PostgresError.self) { try bare.open(0, as: Private<String>.self) }
            #expect(throws: PostgresError.self) { try bare.open(1, as: Private<[UInt8]>.self) }
            #expect(try bare.get(2, as: String.self) == "S123456789_US")
        }
    }

    // MARK: Statements

    private struct Write {
        var file: String
        var table: String
        /// Assignments of the statement.
        var columns: String
    }

    /// The statement with the owner's columns in place of their interpolations.
    private static func spellingOutOwners(_ text: String) -> String {
        text.replacing("\\(OwnerStatements.columns)", with: OwnerStatements.columns.text)
            .replacing(/\\\(OwnerStatements\.setting\(from: "(\w+)"\)\)/) {
                OwnerStatements.setting(from: String($0.output.1)).text
            }
    }

    /// The writes of every INSERT, every ON CONFLICT DO UPDATE and every UPDATE in the sources.
    private static func writes() throws -> [Write] {
        let folder = URL(filePath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Sources")
        let names = PrivateColumns.all.map(\.table).joined(separator: "|")
        let end = "(?:WHERE|FROM|RETURNING|\"\"\")"
        let patterns = [
            "INSERT INTO (\(names))\\s[^(]*\\(([^)]*)\\)",
            "INSERT INTO (\(names))\\s(?:(?!INSERT INTO|\"\"\")(?s:.))*?DO UPDATE SET ((?s:.*?))\(end)",
            "UPDATE (\(names))\\s[^=]*?SET ((?s:.*?))\(end)",
        ]
        let expressions = try patterns.map { try Regex($0, as: (Substring, Substring, Substring).self) }
        var writes: [Write] = []
        for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        where path.hasSuffix(".swift") && ["Core/Relay/", "Features/"].contains(where: path.hasPrefix) {
            let text = spellingOutOwners(try String(contentsOf: folder.appending(path: path), encoding: .utf8))
            for expression in expressions {
                for match in text.matches(of: expression) {
                    writes.append(
                        Write(file: path, table: String(match.output.1), columns: String(match.output.2)))
                }
            }
        }
        return writes
    }

    @Test func everyStatementThatWritesAPrivateColumnSaysByWhat() throws {
        var tables: Set<String> = []
        var count = 0
        for write in try Self.writes() {
            let columns = PrivateColumns.all.first { $0.table == write.table }?.columns.map(\.name) ?? []
            let words = write.columns.split { !($0.isLetter || $0.isNumber || $0 == "_") }.map(String.init)
            guard words.contains(where: columns.contains) else { continue }
            tables.insert(write.table)
            count += 1
            #expect(words.contains("sealed_by"), "\(write.file): \(write.table): \(write.columns)")
        }
        #expect(tables == Set(PrivateColumns.all.map(\.table)), "each is written somewhere")
        #expect(count >= 22, "\(count)")
    }
}
