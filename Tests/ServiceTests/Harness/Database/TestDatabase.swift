import Foundation
import Logging
import Postgres
import TestSupport

/// A database for one test, in the cluster of `RELAY_TEST_DATABASE_URL`.
struct TestDatabase: Sendable {
    /// The superuser's URI, set by `scripts/test`.
    static var clusterURL: String? { ProcessInfo.processInfo.environment["RELAY_TEST_DATABASE_URL"] }

    let name: String
    let url: String
    /// Keys that came with its template.
    private(set) var keys: Relay.Keys?
    /// The test's own connections, to read and change rows.
    private let hand: DatabaseHand

    init(name: String, url: String) {
        self.name = name
        self.url = url
        hand = DatabaseHand(url)
    }

    /// Creates a database, with the schema unless `migrated` is false.
    static func make(migrated: Bool = true) async throws -> TestDatabase {
        let name = newName()
        guard migrated else {
            try await administer("CREATE DATABASE \(name)")
            return TestDatabase(name: name, url: try url(of: name))
        }
        // Copies the template's files, which takes a quarter of the time of the migrations.
        let template = try await template.value()
        try await administer("CREATE DATABASE \(name) TEMPLATE \(template.name) STRATEGY FILE_COPY")
        var database = TestDatabase(name: name, url: try url(of: name))
        database.keys = template.keys
        return database
    }

    func drop() async throws {
        await hand.close()
        try await Self.administer("DROP DATABASE IF EXISTS \(name) WITH (FORCE)")
    }

    func query(_ query: SQL) async throws -> PostgresRows {
        try await hand.pool().query(query)
    }

    private static func newName() -> String {
        "t_\(UUID().uuidString.lowercased().replacingOccurrences(of: "-", with: ""))"
    }

    private static func url(of name: String) throws -> String {
        guard let cluster = clusterURL, var parts = URLComponents(string: cluster) else { throw HarnessError.noCluster }
        parts.path = "/\(name)"
        guard let url = parts.string else { throw HarnessError.noCluster }
        return url
    }

    private static func administer(_ sql: String) async throws {
        guard let cluster = clusterURL else { throw HarnessError.noCluster }
        _ = try await query(on: cluster, SQL(sql))
    }

    /// A database with the schema and a key of each role, as a template for the others. It is removed with the cluster.
    private static let template = Once {
        let database = try await make(migrated: false)
        try await PrivateCluster.migrate(database)
        return (name: database.name, keys: try await Relay.makeKeys(database))
    }

    /// Moves all deadlines into the past: pending validations are timed out from now on, and granted ones stay granted.
    func letDeadlinesCome() async throws {
        for table in ["validations", "pursuits", "purchases"] {
            _ = try await query(
                SQL(unescaped: "UPDATE \(table) SET deadline = now() WHERE deadline > now() AND status <> 1"))
        }
    }

    static func query(on url: String, _ query: SQL) async throws -> PostgresRows {
        try await withPool(url) { try await $0.query(query) }
    }

    static func withPool<T: Sendable>(_ url: String, _ body: (PostgresPool) async throws -> T) async throws -> T {
        let hand = DatabaseHand(url)
        do {
            let value = try await body(hand.pool())
            await hand.close()
            return value
        } catch {
            await hand.close()
            throw error
        }
    }
}

/// Connections to one database, opened on demand and kept until closed.
private actor DatabaseHand {
    private let url: String
    private var opened: (pool: PostgresPool, running: Task<Void, Never>)?

    init(_ url: String) { self.url = url }

    deinit { opened?.running.cancel() }

    func pool() -> PostgresPool {
        if let opened { return opened.pool }
        var configuration = PostgresConfiguration(connectionString: url)
        configuration.sharedConnections = 1
        configuration.exclusiveConnections = 1
        // A test may change tables for which a statement was planned.
        configuration.preparesStatements = false
        // Many tests start at once, on few cores.
        configuration.connectionWait = .seconds(120)
        configuration.queryTimeout = .seconds(120)
        let pool = PostgresPool(configuration, logger: Logger(label: "test"))
        opened = (pool, Task { await pool.run() })
        return pool
    }

    func close() async {
        guard let running = opened?.running else { return }
        opened = nil
        running.cancel()
        await running.value
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
