import Foundation
import Postgres
import Testing

@Suite("Prepared statements")
struct PreparedStatementTests {
    private let prepared = SQL("SELECT count(*) FROM pg_prepared_statements")

    @Test func aTextIsPreparedOnceForEachListOfTypes() async throws {
        try await withPool {
            $0.sharedConnections = 1
        } _: { pool in
            let before = try await pool.query(prepared)[0].get(0, as: Int.self)
            for _ in 0..<10 {
                _ = try await pool.query(SQL("SELECT $1 AS once", [.int4(1)]))
                _ = try await pool.query(SQL("SELECT $1 AS once", [.text("a")]))
            }
            #expect(try await pool.query(prepared)[0].get(0, as: Int.self) == before + 2)
        }
    }

    @Test func textsThatAreEqualInUnicodeAreTwoStatements() async throws {
        try await withPool {
            $0.sharedConnections = 1
        } _: { pool in
            for letter in ["\u{E9}", "e\u{301}"] {
                let said = try await pool.query(SQL(unescaped: "SELECT '\(letter)'::text AS said"))
                #expect(Array(try said[0].get(0, as: String.self).utf8) == Array(letter.utf8))
            }
        }
    }

    @Test func whatIsPlannedAnewIsNotKept() async throws {
        try await withPool {
            $0.sharedConnections = 1
            $0.exclusiveConnections = 1
        } _: { pool in
            let kept = SQL("SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE '%anew%'")
            let query = SQL("SELECT $1 AS anew", [.int4(7)], isPlannedAnew: true)
            for _ in 0..<10 { #expect(try await pool.query(query)[0].get(0, as: Int.self) == 7) }
            #expect(try await pool.query(kept)[0].get(0, as: Int.self) == 1)
            let (answer, left) = try await pool.withTransaction { transaction in
                let answer = try await transaction.query(query)[0].get(0, as: Int.self)
                return (answer, try await transaction.query(kept)[0].get(0, as: Int.self))
            }
            #expect(answer == 7 && left == 1)
        }
    }

    @Test func noMoreThan256AreKept() async throws {
        try await withPool {
            $0.sharedConnections = 1
        } _: { pool in
            for number in 0..<400 { _ = try await pool.query(SQL(unescaped: "SELECT \(number)")) }
            #expect(try await pool.query(prepared)[0].get(0, as: Int.self) <= 257)
            let rows = try await pool.query(SQL("SELECT 0"))
            #expect(rows.count == 1)
        }
    }

    @Test func theSameHoldsForTransactions() async throws {
        try await withPool {
            $0.exclusiveConnections = 1
        } _: { pool in
            for base in 0..<2 {
                try await pool.withTransaction { transaction in
                    for number in 0..<200 {
                        _ = try await transaction.query(SQL(unescaped: "SELECT \(base * 200 + number)"))
                    }
                }
            }
            let kept = try await pool.withTransaction { try await $0.query(prepared)[0].get(0, as: Int.self) }
            #expect(kept <= 257)
        }
    }

    /// The server neither runs nor prepares the statements after a failed one.
    @Test func aStatementAfterAFailedOneIsPreparedWhenNeeded() async throws {
        try await withPool {
            $0.exclusiveConnections = 1
        } _: { pool in
            let behind = SQL("SELECT $1 AS behind", [.int4(5)])
            let error = await #expect(throws: PostgresError.self) {
                try await pool.withTransaction { transaction in
                    try await transaction.pipeline([SQL("SELECT 1 / $1::int4", [.int4(0)]), behind])
                }
            }
            #expect(error?.sqlState == "22012")
            let answer = try await pool.withTransaction { try await $0.query(behind)[0].get(0, as: Int.self) }
            #expect(answer == 5)
        }
    }

    @Test func aLostPreparedStatementIsPreparedAgain() async throws {
        try await withPool {
            $0.sharedConnections = 1
        } _: { pool in
            let query = SQL("SELECT $1 AS lost", [.int4(5)])
            _ = try await pool.query(query)
            _ = try await pool.query(SQL("DEALLOCATE ALL"))
            for _ in 0..<2 { #expect(try await pool.query(query)[0].get(0, as: Int.self) == 5) }
            #expect(!pool.hasMetForeignStatement)
        }
    }

    /// A pooler gives each transaction another session, in which one of our statement names may be in use.
    @Test func anothersStatementInTheSameSessionIsKnown() async throws {
        try await withPool {
            $0.sharedConnections = 1
        } _: { pool in
            _ = try await pool.query(SQL("PREPARE s40 AS SELECT 1"))
            var failures: [String?] = []
            for number in 0..<60 {
                do {
                    _ = try await pool.query(SQL(unescaped: "SELECT \(number) AS n"))
                } catch let error as PostgresError {
                    failures.append(error.sqlState)
                }
            }
            #expect(failures == ["42P05"])
            #expect(pool.hasMetForeignStatement)
        }
    }

    @Test func onePlannedForATableThatHasChangedIsPlannedAgain() async throws {
        try await withPool {
            $0.sharedConnections = 1
        } _: { pool in
            let table = TestDatabase.name("changing")
            let query = SQL(unescaped: "SELECT * FROM \(table)")
            _ = try await pool.query(SQL(unescaped: "CREATE TABLE \(table) AS SELECT 1::int4 AS a"))
            #expect(try await pool.query(query)[0].get("a", as: Int.self) == 1)
            _ = try await pool.query(SQL(unescaped: "ALTER TABLE \(table) ALTER a TYPE text, ADD b int4 DEFAULT 2"))
            for _ in 0..<2 {
                let row = try await pool.query(query)[0]
                #expect(try row.get("a", as: String.self) == "1")
                #expect(try row.get("b", as: Int.self) == 2)
            }
            _ = try await pool.query(SQL(unescaped: "DROP TABLE \(table)"))
        }
    }

    @Test func inATransactionAnOutdatedPlanIsTransient() async throws {
        try await withPool {
            $0.exclusiveConnections = 1
        } _: { pool in
            let table = TestDatabase.name("changing")
            let query = SQL(unescaped: "SELECT * FROM \(table)")
            _ = try await pool.query(SQL(unescaped: "CREATE TABLE \(table) AS SELECT 1::int4 AS a"))
            _ = try await pool.withTransaction { try await $0.query(query) }
            _ = try await pool.query(SQL(unescaped: "ALTER TABLE \(table) ALTER a TYPE text"))
            let error = await postgresError { _ = try await pool.withTransaction { try await $0.query(query) } }
            #expect(error?.sqlState == "0A000")
            #expect(error?.isTransient == true)
            let text = try await pool.withTransaction { try await $0.query(query)[0].get(0, as: String.self) }
            #expect(text == "1")
            _ = try await pool.query(SQL(unescaped: "DROP TABLE \(table)"))
        }
    }

    @Test func withoutThemNothingIsPreparedAndNothingIsSet() async throws {
        try await withPool {
            $0.sharedConnections = 1
            $0.preparesStatements = false
        } _: { pool in
            for _ in 0..<3 {
                #expect(try await pool.query(SQL("SELECT $1", [.int8(4)]))[0].get(0, as: Int.self) == 4)
            }
            #expect(try await pool.query(prepared)[0].get(0, as: Int.self) == 0)
            let inside = try await pool.withTransaction { try await $0.query(prepared)[0].get(0, as: Int.self) }
            #expect(inside == 0)
            let limit = try await pool.query(
                SQL("SELECT setting = reset_val FROM pg_settings WHERE name = 'statement_timeout'"))
            #expect(try limit[0].get(0, as: Bool.self))
        }
    }

    @Test func sessionsAreGivenTheirLimits() async throws {
        try await withPool { pool in
            let shared = try await pool.query(SQL("SHOW statement_timeout"))[0].get(0, as: String.self)
            #expect(shared == "15s")
            let exclusive = try await pool.withTransaction { transaction in
                try await transaction.query(SQL("SHOW idle_in_transaction_session_timeout"))[0]
                    .get(0, as: String.self)
            }
            #expect(exclusive == "1min")
        }
    }
}
