import Foundation
import Logging
import Postgres
import TestRun

/// The server that most tests share: that of `RELAY_TEST_DATABASE_URL`, or one for the whole run.
enum TestDatabase {
    private static let cluster = Task { try await TestCluster.launch() }

    static func connectionString() async throws -> String {
        if let given = ProcessInfo.processInfo.environment["RELAY_TEST_DATABASE_URL"], !given.isEmpty { return given }
        return try await cluster.value.connectionString
    }

    /// A name that no other test uses.
    static func name(_ prefix: String) -> String {
        "\(prefix)_\(UUID().uuidString.replacingOccurrences(of: "-", with: "").lowercased())"
    }
}

/// Runs `body` with a pool, and shuts it down afterwards.
///
/// - Parameter awaitsServer: false if `body` must start before the pool is up.
func withPool<T: Sendable>(
    _ connectionString: String? = nil, awaitsServer: Bool = true,
    observer: any PostgresObserver = SilentPostgresObserver(),
    _ configure: (inout PostgresConfiguration) -> Void = { _ in }, _ body: (PostgresPool) async throws -> T
) async throws -> T {
    var connectionString = connectionString
    if connectionString == nil { connectionString = try await TestDatabase.connectionString() }
    var configuration = PostgresConfiguration(connectionString: connectionString ?? "")
    configuration.sharedConnections = 2
    configuration.backoff.initial = .milliseconds(20)
    configuration.backoff.max = .milliseconds(200)
    configure(&configuration)
    let pool = PostgresPool(configuration, logger: .silent, observer: observer)
    let running = Task { await pool.run() }
    let result: Result<T, any Error>
    do {
        if awaitsServer {
            try await eventually { (try? await pool.query(SQL("SELECT"))) != nil }
            try await eventually { (try? await pool.withTransaction { _ in }) != nil }
        }
        result = .success(try await body(pool))
    } catch {
        result = .failure(error)
    }
    running.cancel()
    await running.value
    return try result.get()
}

extension Logger {
    static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
}

/// The PostgreSQL error of `body`; nil if it throws none.
func postgresError(_ body: () async throws -> Void) async -> PostgresError? {
    do { try await body() } catch { return error as? PostgresError }
    return nil
}

struct NeverHappened: Error {}

/// Repeats `condition` until it holds. Gives up after a time that is long enough for any machine.
func eventually(_ condition: () async throws -> Bool) async throws {
    let limit = ContinuousClock.now + Duration.seconds(90).paced
    while try await !condition() {
        guard ContinuousClock.now < limit else { throw NeverHappened() }
        try await Task.sleep(for: .milliseconds(5))
    }
}

/// Fails instead of hanging.
@discardableResult
func within<T: Sendable>(_ limit: Duration, _ body: @escaping @Sendable () async throws -> T) async throws -> T {
    try await withThrowingTaskGroup(of: T.self) { group in
        group.addTask { try await body() }
        group.addTask {
            try await Task.sleep(for: limit)
            throw NeverHappened()
        }
        defer { group.cancelAll() }
        guard let first = try await group.next() else { throw NeverHappened() }
        return first
    }
}
