import Foundation
import Testing

@testable import Postgres

@Suite("What does not fit is refused")
struct DecodingTests {
    private func refusal<T: PostgresDecodable>(_ type: T.Type, of sql: String) async throws -> PostgresError? {
        try await withPool { pool in
            let rows = try await pool.query(SQL(sql))
            return await postgresError { _ = try rows[0].get(0, as: T.self) }
        }
    }

    @Test func aNullNeedsAnOptional() async throws {
        #expect(try await refusal(Int.self, of: "SELECT NULL::int4")?.code == .decoding)
        #expect(try await refusal([UInt8].self, of: "SELECT NULL::bytea")?.code == .decoding)
        #expect(try await refusal([String].self, of: "SELECT ARRAY['a', NULL]")?.code == .decoding)
    }

    @Test func aNumberMustBeInRange() async throws {
        #expect(try await refusal(Int16.self, of: "SELECT 32768::int4")?.code == .decoding)
        #expect(try await refusal(Int32.self, of: "SELECT 2147483648::int8")?.code == .decoding)
        #expect(try await refusal(Int16.self, of: "SELECT 32767::int4") == nil)
    }

    @Test func theTypeMustFit() async throws {
        #expect(try await refusal(Int.self, of: "SELECT 'a'::text")?.code == .decoding)
        #expect(try await refusal(String.self, of: "SELECT 1::int4")?.code == .decoding)
        #expect(try await refusal(Bool.self, of: "SELECT 1::int2")?.code == .decoding)
        #expect(try await refusal(UUID.self, of: "SELECT '\\x00'::bytea")?.code == .decoding)
        #expect(try await refusal(PostgresTimestamp.self, of: "SELECT 'now'::timestamp")?.code == .decoding)
        #expect(try await refusal([Int].self, of: "SELECT ARRAY['a']")?.code == .decoding)
        #expect(try await refusal([Int].self, of: "SELECT ARRAY[[1], [2]]")?.code == .decoding)
        #expect(try await refusal([UInt8].self, of: "SELECT 'a'::text")?.code == .decoding)
    }

    @Test func aColumnMustBeThere() async throws {
        try await withPool { pool in
            let row = try await pool.query(SQL("SELECT 1 AS \"One\", 2 AS two"))[0]
            #expect(try row.get("One", as: Int.self) == 1)
            #expect(try row.get("two", as: Int.self) == 2)
            for column in [-1, 2, .max] {
                #expect(await postgresError { _ = try row.get(column, as: Int.self) }?.code == .decoding)
            }
            #expect(await postgresError { _ = try row.get("one", as: Int.self) }?.code == .decoding)
        }
    }

    @Test func anEnumReadsAsItsLabel() async throws {
        try await withPool {
            $0.sharedConnections = 1
        } _: { pool in
            let type = TestDatabase.name("mood")
            _ = try await pool.query(SQL(unescaped: "CREATE TYPE \(type) AS ENUM ('calm', 'cross')"))
            let row = try await pool.query(SQL(unescaped: "SELECT 'cross'::\(type)"))[0]
            #expect(try row.get(0, as: String.self) == "cross")
            _ = try await pool.query(SQL(unescaped: "DROP TYPE \(type)"))
        }
    }

    @Test func affectedRowsAreCounted() async throws {
        try await withPool {
            $0.sharedConnections = 1
        } _: { pool in
            let table = TestDatabase.name("counted")
            #expect(try await pool.query(SQL(unescaped: "CREATE TABLE \(table) (a int4)")).affectedRows == 0)
            let insert = SQL(unescaped: "INSERT INTO \(table) SELECT generate_series(1, 5)")
            #expect(try await pool.query(insert).affectedRows == 5)
            #expect(try await pool.query(SQL(unescaped: "UPDATE \(table) SET a = 0 WHERE a > 3")).affectedRows == 2)
            #expect(try await pool.query(SQL(unescaped: "DELETE FROM \(table)")).affectedRows == 5)
            _ = try await pool.query(SQL(unescaped: "DROP TABLE \(table)"))
        }
    }

    @Test func anArrayThatIsCutShortIsRefusedWhereverItIsCut() {
        let whole = BinaryFormat.array(of: .text, ["abc", nil, ""], BinaryFormat.text)
        for length in 0..<whole.count {
            let cut = Array(whole.prefix(length))
            #expect(throws: PostgresError.self) {
                try cut.withUnsafeBytes { try [String?].decode(PostgresBinary(type: .textArray, bytes: $0)) }
            }
        }
        #expect(throws: Never.self) {
            try whole.withUnsafeBytes { try [String?].decode(PostgresBinary(type: .textArray, bytes: $0)) }
        }
    }

    @Test func aFalseCountOfElementsReservesNothing() {
        var bytes = BinaryFormat.array(of: .text, ["abc"], BinaryFormat.text)
        bytes.replaceSubrange(12..<16, with: [0x7f, 0xff, 0xff, 0xff])
        #expect(throws: PostgresError.self) {
            try bytes.withUnsafeBytes { try [String].decode(PostgresBinary(type: .textArray, bytes: $0)) }
        }
    }
}
