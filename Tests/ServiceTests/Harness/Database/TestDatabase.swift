import Foundation
import Logging
import Postgres

/// A database of its own, in the cluster that `RELAY_TEST_DATABASE_URL` names.
struct TestDatabase: Sendable {
    /// The superuser's URI, as `scripts/test` sets it.
    static var clusterURL: String? { ProcessInfo.processInfo.environment["RELAY_TEST_DATABASE_URL"] }

    let name: String
    let url: String

    /// Made, and the schema applied unless told otherwise.
    static func make(migrated: Bool = true) async throws -> TestDatabase {
        guard let cluster = clusterURL, var parts = URLComponents(string: cluster) else { throw HarnessError.noCluster }
        let name = "t_\(UUID().uuidString.lowercased().replacingOccurrences(of: "-", with: ""))"
        _ = try await query(on: cluster, PostgresQuery("CREATE DATABASE \(name)"))
        parts.path = "/\(name)"
        guard let url = parts.string else { throw HarnessError.noCluster }
        let database = TestDatabase(name: name, url: url)
        if migrated {
            let ended = try await ChildProcess.run(
                "receipt-relay", ["migrate", "up"], environment: ["RELAY_DATABASE_URL": url])
            guard ended.code == 0 else { throw HarnessError.failed("migrate", ended.output) }
        }
        return database
    }

    func drop() async throws {
        guard let cluster = Self.clusterURL else { return }
        _ = try await Self.query(on: cluster, PostgresQuery("DROP DATABASE IF EXISTS \(name) WITH (FORCE)"))
    }

    func query(_ query: PostgresQuery) async throws -> PostgresRows {
        try await Self.query(on: url, query)
    }

    /// As if every app had waited to the end: what is pending is timed out from now on. What is granted stays as it is.
    func letDeadlinesCome() async throws {
        for table in ["validations", "pursuits", "purchases"] {
            _ = try await query(
                PostgresQuery("UPDATE \(table) SET deadline = now() WHERE deadline > now() AND status <> 1"))
        }
    }

    static func query(on url: String, _ query: PostgresQuery) async throws -> PostgresRows {
        try await withPool(url) { try await $0.query(query) }
    }

    static func withPool<T: Sendable>(_ url: String, _ body: (PostgresPool) async throws -> T) async throws -> T {
        var configuration = PostgresConfiguration(connectionString: url)
        configuration.sharedConnections = 1
        configuration.exclusiveConnections = 1
        // Many tests start at once, on few cores.
        configuration.connectionWait = .seconds(120)
        configuration.queryTimeout = .seconds(120)
        let pool = PostgresPool(configuration, logger: Logger(label: "test"))
        let running = Task { await pool.run() }
        do {
            let value = try await body(pool)
            running.cancel()
            await running.value
            return value
        } catch {
            running.cancel()
            await running.value
            throw error
        }
    }
}

enum HarnessError: Error, CustomStringConvertible {
    case noCluster
    case failed(String, [String])
    case notReady(String, [String])

    var description: String {
        switch self {
        case .noCluster: "RELAY_TEST_DATABASE_URL is not set: run scripts/test, which starts a cluster"
        case .failed(let what, let output): "\(what) failed: \(output.suffix(20).joined(separator: "\n"))"
        case .notReady(let what, let output): "\(what) did not get ready: \(output.suffix(20).joined(separator: "\n"))"
        }
    }
}
