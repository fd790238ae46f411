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
            let isEncrypted = PostgresQuery("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()")
            #expect(try await pool.query(isEncrypted)[0].get(0, as: Bool.self))
            // Sizes around those of a TLS record and of libpq's buffer, where a remainder may be held back.
            for size in [1, 8_191, 8_192, 16_383, 16_384, 16_385, 40_000, 100_000, 1 << 20] {
                let bytes = [UInt8](repeating: 3, count: size)
                let row = try await pool.query(PostgresQuery("SELECT $1", [.bytea(bytes)]), timeout: .seconds(5))[0]
                #expect(try row.get(0, as: [UInt8].self) == bytes)
            }
            let answers = try await withThrowingTaskGroup(of: Int.self) { group in
                for size in 0..<300 {
                    group.addTask {
                        let query = PostgresQuery("SELECT repeat('x', $1)", [.int4(Int32(size * 200))])
                        return try await pool.query(query)[0].get(0, as: String.self).utf8.count - size * 200
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(answers == Array(repeating: 0, count: 300))
        }
    }
}
