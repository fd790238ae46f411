import Foundation
import Logging
import Postgres

/// The PostgreSQL cluster that the tests run on, which `scripts/test` starts.
enum TestCluster {
    struct Missing: Error, CustomStringConvertible {
        let description =
            "RELAY_TEST_DATABASE_URL is not set: run scripts/test, which starts a PostgreSQL for the tests"
    }

    static func url(database: String? = nil) throws -> String {
        let variable = ProcessInfo.processInfo.environment["RELAY_TEST_DATABASE_URL"]
        guard let variable, var parts = URLComponents(string: variable) else { throw Missing() }
        if let database { parts.path = "/\(database)" }
        guard let url = parts.string else { throw Missing() }
        return url
    }

    /// Runs one statement as the superuser, outside the tests' databases.
    static func administer(_ sql: String) async throws {
        let running = RunningPool(url: try url(), connections: 1)
        do {
            _ = try await running.pool.query(SQL(sql), timeout: .seconds(30))
        } catch {
            await running.stop()
            throw error
        }
        await running.stop()
    }
}
