import Foundation
import Postgres
import Testing

@Suite("Over TLS", .enabled(if: FileManager.default.isExecutableFile(atPath: TestCluster.openssl)))
struct EncryptionTests {
    @Test func largeAnswersAndManySmallOnesArriveWhole() async throws {
        let server = try await TestCluster.launch(hasTLS: true)
        try await withPool(server.connectionString + " sslmode=require") {
            $0.sharedConnections = 1
        } _: { pool in
            let isEncrypted = SQL("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()")
            #expect(try await pool.query(isEncrypted)[0].get(0, as: Bool.self))
            // Sizes around those of a TLS record and of libpq's buffer, where a remainder could be held back.
            for size in [1, 8_191, 8_192, 16_383, 16_384, 16_385, 40_000, 100_000, 1 << 20] {
                let bytes = [UInt8](repeating: 3, count: size)
                let row = try await pool.query(SQL("SELECT $1", [.bytea(bytes)]), timeout: .seconds(5))[0]
                #expect(try row.get(0, as: [UInt8].self) == bytes)
            }
            let answers = try await withThrowingTaskGroup(of: Int.self) { group in
                for size in 0..<300 {
                    group.addTask {
                        let query = SQL("SELECT repeat('x', $1)", [.int4(Int32(size * 200))])
                        return try await pool.query(query)[0].get(0, as: String.self).utf8.count - size * 200
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(answers == Array(repeating: 0, count: 300))
        }
    }

    @Test func theServersCertificateAndThePasswordAreChecked() async throws {
        let password = "p4ss-w0rd'of the test"
        let server = try await TestCluster.launch(hasTLS: true, password: password)
        let strange = try await server.strangeCertificate()
        func string(password: String, root: String, host: String = "localhost") -> String {
            let quoted = password.replacing("'", with: "\\'")
            return "host=\(host) hostaddr=127.0.0.1 port=\(server.port) user=app dbname=postgres "
                + "password='\(quoted)' sslmode=verify-full sslrootcert=\(root)"
        }
        try await withPool(string(password: password, root: server.certificate)) { pool in
            let session = SQL(
                "SELECT ssl, current_setting('password_encryption') FROM pg_stat_ssl WHERE pid = pg_backend_pid()")
            let row = try await pool.query(session)[0]
            #expect(try row.get(0, as: Bool.self))
            #expect(try row.get(1, as: String.self) == "scram-sha-256")
        }
        let wrong = "wr0ng-w0rd"
        for (bad, named) in [
            (string(password: wrong, root: server.certificate), "password authentication failed for user \"app\""),
            (string(password: password, root: strange), "certificate verify failed"),
            (string(password: password, root: server.certificate, host: "db.example.test"), "does not match host name"),
            (string(password: password, root: "/nonexistent/root.crt"), "/nonexistent/root.crt"),
        ] {
            let events = LoadEvents()
            try await withPool(bad, awaitsServer: false, observer: events) { pool in
                try await events.wait {
                    guard case .disconnected(_, let error) = $0 else { return false }
                    let text = String(reflecting: error)
                    return text.contains(named) && !text.contains(password) && !text.contains(wrong)
                }
                let error = await postgresError {
                    _ = try await pool.query(SQL("SELECT 1"), timeout: .milliseconds(200))
                }
                #expect(error?.isUnavailable == true)
                #expect(error?.serverMessage.contains(named) == true, "\(String(reflecting: error))")
                #expect(!String(reflecting: error).contains(wrong))
            }
        }
    }
}
