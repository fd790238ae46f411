import Foundation
import Testing

@testable import Postgres

@Suite("Errors say what they may and no more")
struct ErrorTests {
    private func server(_ sqlState: String) -> PostgresError { PostgresError(.server, "m", sqlState: sqlState) }

    @Test func unavailableErrorsConcernEveryStatement() {
        for code in [PostgresError.Code.connectFailed, .notConnected, .connectionLost, .closed, .invalidConfiguration] {
            #expect(PostgresError(code, "").isUnavailable)
        }
        for state in ["57P01", "57P02", "57P03", "53300", "53100", "08006", "25006", "58030"] {
            #expect(server(state).isUnavailable, "\(state)")
        }
        for state in ["23505", "22012", "40001", "40P01", "42601", "57014", "25P02"] {
            #expect(!server(state).isUnavailable, "\(state)")
        }
        for code in [PostgresError.Code.overloaded, .timedOut, .decoding, .invalidQuery, .cancelled, .transactionOver] {
            #expect(!PostgresError(code, "").isUnavailable)
        }
    }

    @Test func transientErrorsMayPassOnARepeat() {
        for state in ["34000", "40001", "40P01", "57P01"] { #expect(server(state).isTransient) }
        for state in ["23505", "42601"] { #expect(!server(state).isTransient) }
    }

    @Test func descriptionsAreBoundedAndHaveTheServersMessage() {
        let error = PostgresError(.server, String(repeating: "x", count: 9_000), sqlState: "23505", constraint: "c")
        #expect(error.shortDescription == "server_23505")
        #expect("\(error)" == "server_23505: \(String(repeating: "x", count: 500))")
        #expect(error.isRefusal && server("42703").isRefusal)
        for state in ["57P01", "40P01", "53300", "55P03", "57014", "26000"] { #expect(!server(state).isRefusal) }
        #expect("\(server("57P01"))" == "server_57P01")
        #expect("\(PostgresError(.connectFailed, "no route to db1"))" == "connectFailed")
        #expect(error.serverMessage.count == 500)
        #expect(String(reflecting: error).contains("xxx"))
        #expect(String(reflecting: error).contains("constraint c"))
        #expect(error == PostgresError(.server, "another"))
        #expect(error != PostgresError(.timedOut, "another"))
    }

    @Test func valuesThatWereSentAppearInNoError() async throws {
        let secret = "s3cr3t-value"
        try await withPool { pool in
            let table = TestDatabase.name("secrets")
            _ = try await pool.query(SQL(unescaped: "CREATE TABLE \(table) (a text PRIMARY KEY, CHECK (a <> 'x'))"))
            let insert = SQL("INSERT INTO \(table) VALUES ($1)", [.text(secret)])
            _ = try await pool.query(insert)
            let failing = [
                insert, SQL("SELECT $1::int4", [.text(secret)]),
                SQL("SELECT $1::timestamptz", [.text(secret)]),
                SQL("SELECT $1::uuid", [.text(secret)]), SQL("SELECT $1::jsonb", [.text(secret)]),
            ]
            for query in failing {
                let error = await postgresError { _ = try await pool.query(query) }
                #expect(error?.code == .server)
                #expect(!String(reflecting: error).contains(secret))
            }
            _ = try await pool.query(SQL(unescaped: "DROP TABLE \(table)"))
        }
    }

    @Test(arguments: [
        "host=localhost password=hunter2 oops", "password='hunter2", "postgresql://user:hunter2@[::1/db",
        "hunter2=1", "host=h password=hunter2\u{0}",
    ])
    func aConnectionStringThatCannotBeReadIsNotQuoted(text: String) async throws {
        try await withPool(text, awaitsServer: false) { pool in
            let error = await postgresError {
                try await eventually {
                    _ = try await pool.query(SQL("SELECT 1"), timeout: .milliseconds(100))
                    return true
                }
            }
            #expect(error?.code == .invalidConfiguration || error?.code == .notConnected)
            #expect(!String(reflecting: error).contains("hunter2"))
            try await eventually {
                await postgresError { _ = try await pool.query(SQL("SELECT 1")) }?.code
                    == .invalidConfiguration
            }
        }
    }

    @Test func aConnectionErrorHasNoPassword() async throws {
        let port = try TestCluster.freePort()
        let events = LoadEvents()
        try await withPool("host=127.0.0.1 port=\(port) user=u password=hunter2", awaitsServer: false, observer: events)
        {
            $0.connectionWait = .seconds(20)
        } _: { pool in
            try await events.wait {
                guard case .disconnected(_, let error) = $0 else { return false }
                return error.code == .connectFailed && !String(reflecting: error).contains("hunter2")
            }
            let error = await postgresError {
                _ = try await pool.query(SQL("SELECT 1"), timeout: .milliseconds(50))
            }
            #expect(error?.code == .notConnected)
            #expect(error?.serverMessage.contains("refused") == true)
        }
        #expect(ConnectionString.redact("FATAL: hunter2 is wrong", "password=hunter2") == "FATAL: *** is wrong")
        // A combining mark forms one character with the one before it.
        let marked = ConnectionString.redact("FATAL: hunter2\u{301} is wrong", "password=hunter2")
        #expect(Array(marked.utf8) == Array("FATAL: ***\u{301} is wrong".utf8))
    }

    @Test func messagesAboutMalformedDataEndBeforeTheData() {
        let cut = PostgresError.withoutData("invalid input syntax for type integer: \"abc\"", sqlState: "22P02")
        #expect(cut == "invalid input syntax for type integer")
        let whole = "duplicate key value violates unique constraint \"a\""
        #expect(PostgresError.withoutData(whole, sqlState: "23505") == whole)
        // The value begins with a combining mark, which forms one character with the quotation mark.
        let marked = PostgresError.withoutData("value \"\u{301}s3cr3t\" is out of range", sqlState: "22003")
        #expect(!marked.utf8.contains(UInt8(ascii: "3")), "\(marked)")
    }
}
