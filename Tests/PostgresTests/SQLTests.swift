import Foundation
import Postgres
import Testing

@Suite("SQL with its values")
struct SQLTests {
    @Test func valuesAreNumberedInTheOrderOfTheText() {
        let isDue: SQL = "due_at <= \(.int8(3)) AND kind = \(.int2(2))"
        let sql: SQL = "SELECT \(unescaped: "a, b") FROM jobs WHERE id = \(.int4(1)) AND \(isDue) LIMIT \(.int4(9))"
        #expect(sql.text == "SELECT a, b FROM jobs WHERE id = $1 AND due_at <= $2 AND kind = $3 LIMIT $4")
        #expect(sql.parameters.count == 4)
    }

    @Test func aTextWithoutValuesIsTheText() {
        let sql: SQL = "SELECT 1"
        #expect(sql.text == "SELECT 1" && sql.parameters.isEmpty)
        #expect(("\(sql) + 1" as SQL).text == "SELECT 1 + 1")
        #expect((sql + " + \(.int4(2))").text == "SELECT 1 + $1")
    }

    @Test func aPartThatIsPlannedAnewMakesTheWholeSo() {
        let part = ("x = \(.int4(1))" as SQL).plannedAnew
        #expect(("SELECT \(part)" as SQL).isPlannedAnew && !("SELECT 1" as SQL).isPlannedAnew)
    }

    @Test func aTableOfValuesHasItsColumnsByName() async throws {
        try await withPool { pool in
            let jobs: SQLTable = ["id": .int4Array([7, 8]), "owner": .textArray(["ana", nil])]
            let rows = try await pool.query(
                "SELECT j.owner AS who, j.id, j.place FROM \(jobs, as: "j", ordinal: "place") WHERE j.id > \(.int4(7))")
            #expect(rows.count == 1)
            #expect(try rows[0].get("id", as: Int.self) == 8 && rows[0].get("place", as: Int.self) == 2)
            #expect(try rows[0].get("who", as: String?.self) == nil)
            #expect(await postgresError { _ = try rows[0].get("wh", as: String?.self) }?.code == .decoding)
        }
    }

    @Test func whatLooksLikeSQLInAValueIsAValue() async throws {
        try await withPool { pool in
            let said = "'; DROP TABLE jobs; -- $1"
            let rows = try await pool.query("SELECT \(.text(said)) AS said")
            #expect(try rows[0].get("said", as: String.self) == said)
        }
    }
}
