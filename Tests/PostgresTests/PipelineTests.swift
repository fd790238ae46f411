import Foundation
import Postgres
import Testing

@Suite("Statements share connections and stay apart")
struct PipelineTests {
    @Test func fiveHundredAtOnceEachGetTheirOwnAnswer() async throws {
        try await withPool { pool in
            let answers = try await withThrowingTaskGroup(of: (Int, Int, String).self) { group in
                for number in 0..<500 {
                    group.addTask {
                        let query = SQL(
                            "SELECT $1, $2 || $1::text", [.int4(Int32(number)), .text("answer ")])
                        let row = try await pool.query(query)[0]
                        return (number, try row.get(0), try row.get(1))
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(answers.count == 500)
            #expect(answers.allSatisfy { $0.0 == $0.1 && $0.2 == "answer \($0.0)" })
        }
    }

    @Test func anErrorHarmsNoNeighbour() async throws {
        try await withPool {
            $0.sharedConnections = 1
        } _: { pool in
            let outcomes = await withTaskGroup(of: (Int, Result<Int, any Error>).self) { group in
                for number in 0..<200 {
                    group.addTask {
                        let query = SQL("SELECT 1000 / $1", [.int4(number % 3 == 0 ? 0 : Int32(number))])
                        do { return (number, .success(try await pool.query(query)[0].get(0))) } catch {
                            return (number, .failure(error))
                        }
                    }
                }
                return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
            }
            for (number, outcome) in outcomes {
                switch outcome {
                case .success(let value): #expect(number % 3 != 0 && value == 1000 / number)
                case .failure(let error):
                    #expect(number % 3 == 0)
                    #expect((error as? PostgresError)?.sqlState == "22012")
                }
            }
        }
    }

    @Test func largeParametersAndLargeAnswersCrossWithoutADeadlock() async throws {
        try await withPool {
            $0.sharedConnections = 1
        } _: { pool in
            let bytes = [UInt8](repeating: 7, count: 2 << 20)
            let sizes = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<12 {
                    group.addTask {
                        try await pool.query(SQL("SELECT $1", [.bytea(bytes)]))[0].get(0, as: [UInt8].self)
                            .count
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(sizes == Array(repeating: bytes.count, count: 12))
        }
    }

    @Test func aStatementThatCannotBeParsedFailsForAllWhoSentIt() async throws {
        try await withPool {
            $0.sharedConnections = 1
        } _: { pool in
            let states = await withTaskGroup(of: String?.self) { group in
                for _ in 0..<20 {
                    group.addTask {
                        await postgresError { _ = try await pool.query(SQL("SELEC 1")) }?.sqlState
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(states == Array(repeating: "42601", count: 20))
            let rows = try await pool.query(SQL("SELECT 1"))
            #expect(rows.count == 1)
        }
    }

    @Test(
        arguments: [
            (SQL("SELECT 1\u{0}"), nil),
            (SQL("SELECT 1", [PostgresValue](repeating: .bool(true), count: 65_536)), nil),
            (SQL("SELECT $1::numeric", [.text("a")]), "22P02"),
        ] as [(SQL, String?)])
    func whatCannotBeSentIsRefused(query: SQL, sqlState: String?) async throws {
        let error = await postgresError {
            try await withPool { pool in _ = try await pool.query(query) }
        }
        #expect(error?.code == (sqlState == nil ? .invalidQuery : .server))
        #expect(error?.sqlState == sqlState)
    }

    @Test func copyEndsInAnErrorAndNotInAHang() async throws {
        try await withPool { pool in
            let error = await postgresError {
                _ = try await within(.seconds(180)) { try await pool.query(SQL("COPY pg_class TO STDOUT")) }
            }
            #expect(error != nil)
            try await eventually { try await pool.query(SQL("SELECT 1")).count == 1 }
        }
    }
}
