import Foundation
import Postgres
import Testing

@Suite("Every type comes back as it went")
struct RoundTripTests {
    private func echo<T: PostgresDecodable & Sendable & Equatable>(_ pairs: [(PostgresValue, T)]) async throws {
        try await withPool { pool in
            for (value, expected) in pairs {
                let rows = try await pool.query(SQL("SELECT $1", [value]))
                #expect(try rows[0].get(0, as: T.self) == expected)
            }
        }
    }

    @Test func wholeNumbers() async throws {
        try await echo([.min, -1, 0, 1, .max].map { (.int2($0), $0) } + [(.int2(nil), Int16?.none)])
        try await echo([.min, -1, 0, 1, .max].map { (.int4($0), $0) } + [(.int4(nil), Int32?.none)])
        try await echo([.min, -1, 0, 1, .max].map { (.int8($0), $0) } + [(.int8(nil), Int64?.none)])
        try await echo([(.int2(-7), -7), (.int4(-7), -7), (.int8(-7), -7)] as [(PostgresValue, Int)])
    }

    @Test func bools() async throws {
        try await echo([(.bool(true), true), (.bool(false), false), (.bool(nil), nil)] as [(PostgresValue, Bool?)])
    }

    @Test func doubles() async throws {
        let values = [0, -0.1, .pi, .leastNonzeroMagnitude, .greatestFiniteMagnitude, .infinity, -.infinity]
        try await withPool { pool in
            for value in values {
                let row = try await pool.query("SELECT \(.text("\(value)"))::float8")[0]
                #expect(try row.get(0, as: Double.self) == value)
            }
            let row = try await pool.query("SELECT 'NaN'::float8, 1.5::float4")[0]
            #expect(try row.get(0, as: Double.self).isNaN)
            #expect(try row.get(1, as: Double.self) == 1.5)
        }
    }

    @Test func texts() async throws {
        let values = [
            "", " ", "ascii", "Zürich €  日本語 👩‍👩‍👧‍👦", "it's \"quoted\" \\ $1 %s", String(repeating: "x", count: 100_000),
        ]
        try await echo(values.map { (.text($0), $0) } + [(.text(nil), String?.none)])
        try await withPool { pool in
            let sql = "SELECT 'a'::varchar(3), 'b'::char(2), 'c'::name, '{\"d\":1}'::json, '{\"e\": 1}'::jsonb"
            let row = try await pool.query(SQL(sql))[0]
            #expect(
                try (0..<5).map { try row.get($0, as: String.self) } == ["a", "b ", "c", "{\"d\":1}", "{\"e\": 1}"])
        }
    }

    @Test func bytes() async throws {
        let values: [[UInt8]] = [[], [0], Array(0...255)]
        try await echo(values.map { (.bytea($0), $0) } + [(.bytea(nil), [UInt8]?.none)])
    }

    @Test func fourMegabytes() async throws {
        try await echo(
            [(.bytea((0..<4 << 20).map { UInt8(truncatingIfNeeded: $0 &* 31) }))].map { value in
                (value, (0..<4 << 20).map { UInt8(truncatingIfNeeded: $0 &* 31) })
            })
    }

    @Test func uuids() async throws {
        let id = UUID()
        try await echo([(.uuid(id), id), (.uuid(nil), nil)] as [(PostgresValue, UUID?)])
        try await withPool { pool in
            let text = try await pool.query(SQL("SELECT $1::text", [.uuid(id)]))[0].get(0, as: String.self)
            #expect(text == id.uuidString.lowercased())
        }
    }

    @Test func timestamps() async throws {
        let values = [0, -1, 1_700_000_000_123_456, 946_684_800_000_000, .max, .min].map(
            PostgresTimestamp.init(microsecondsSince1970:))
        try await echo(values.map { (.timestamptz($0), $0) } + [(.timestamptz(nil), PostgresTimestamp?.none)])
        try await withPool { pool in
            let sql = "SELECT extract(epoch FROM $1)::text, $2 = 'infinity', $3 = '-infinity'"
            let row = try await pool.query(
                SQL(
                    sql,
                    [
                        .timestamptz(PostgresTimestamp(microsecondsSince1970: 1_700_000_000_123_456)),
                        .timestamptz(values[4]), .timestamptz(values[5]),
                    ]))[0]
            #expect(try row.get(0, as: String.self) == "1700000000.123456")
            #expect(try row.get(1, as: Bool.self))
            #expect(try row.get(2, as: Bool.self))
        }
    }

    @Test("a moment that the server does not hold is infinity, and no error")
    func farTimestamps() async throws {
        let far = [.min + 1, -211_813_488_000_000_001 + 946_684_800_000_000, .max - 1].map {
            PostgresValue.timestamptz(PostgresTimestamp(microsecondsSince1970: $0))
        }
        try await withPool { pool in
            let sql = "SELECT $1 = '-infinity', $2 = '-infinity', isfinite($3)"
            let row = try await pool.query(SQL(sql, far))[0]
            for column in 0..<3 { #expect(try row.get(column, as: Bool.self)) }
        }
    }

    @Test("no text is refused for a NUL in it, in whatever form it is sent")
    func nuls() async throws {
        let (sent, stored) = ("\0a\0\0b", "\u{FFFD}a\u{FFFD}\u{FFFD}b")
        try await echo(
            [(.text(sent), stored), (.privateText(sent), stored), (.text("\0"), "\u{FFFD}")]
                as [(PostgresValue, String)])
        try await echo(
            [
                (.textArray([sent, "b"]), [stored, "b"]), (.privateTextArray(["b", sent]), ["b", stored]),
            ] as [(PostgresValue, [String])])
        try await echo(
            [(.textArray([nil, sent]), [nil, stored]), (.privateTextArray([sent, nil]), [stored, nil])]
                as [(PostgresValue, [String?])])
    }

    @Test func arrays() async throws {
        let ids = [UUID(), UUID()]
        let time = PostgresTimestamp(microsecondsSince1970: 5)
        try await echo([(.int2Array([1, -2]), [1, -2]), (.int2Array([]), [])] as [(PostgresValue, [Int16])])
        try await echo([(.int4Array([1, nil, -3]), [1, nil, -3])] as [(PostgresValue, [Int32?])])
        try await echo([(.int8Array([.max]), [.max]), (.int8Array([]), [])] as [(PostgresValue, [Int64])])
        try await echo([(.boolArray([true, nil, false]), [true, nil, false])] as [(PostgresValue, [Bool?])])
        try await echo([(.textArray(["", "ü,{}\"", "NULL"]), ["", "ü,{}\"", "NULL"])] as [(PostgresValue, [String])])
        try await echo([(.textArray(["", nil]), ["", nil])] as [(PostgresValue, [String?])])
        try await echo([(.byteaArray([[], [0, 255]]), [[], [0, 255]])] as [(PostgresValue, [[UInt8]])])
        try await echo([(.byteaArray([nil, [1]]), [nil, [1]])] as [(PostgresValue, [[UInt8]?])])
        try await echo([(.uuidArray(ids), ids)])
        try await echo([(.uuidArray([nil, ids[0]]), [nil, ids[0]])] as [(PostgresValue, [UUID?])])
        try await echo([(.timestamptzArray([time, nil]), [time, nil])] as [(PostgresValue, [PostgresTimestamp?])])
        try await echo([(.timestamptzArray([time]), [time])])
    }

    @Test func arraysInUnnestKeepTheirOrderAndTheirNulls() async throws {
        try await withPool { pool in
            let sql = "SELECT i.a, i.b FROM unnest($1::int4[], $2::text[]) WITH ORDINALITY AS i(a, b, n) ORDER BY n"
            let rows = try await pool.query(
                SQL(sql, [.int4Array([3, 1, 2]), .textArray(["c", nil, "b"])]))
            #expect(try rows.map { try $0.get(0, as: Int.self) } == [3, 1, 2])
            #expect(try rows.map { try $0.get(1, as: String?.self) } == ["c", nil, "b"])
            #expect(rows.affectedRows == 3)
        }
    }
}
