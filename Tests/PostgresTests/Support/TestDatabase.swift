import Foundation
import Logging
import Postgres

/// The server that most tests share: the one that `RELAY_TEST_DATABASE_URL` names, or else one for the whole run.
enum TestDatabase {
    private static let cluster = Result { try TestCluster() }

    static func connectionString() throws -> String {
        if let given = ProcessInfo.processInfo.environment["RELAY_TEST_DATABASE_URL"], !given.isEmpty { return given }
        return try cluster.get().connectionString
    }

    /// A name that no other test uses.
    static func name(_ prefix: String) -> String {
        "\(prefix)_\(UUID().uuidString.replacingOccurrences(of: "-", with: "").lowercased())"
    }
}

/// Runs `body` with a pool that is up, and shuts it down afterwards.
func withPool<T: Sendable>(
    _ connectionString: String? = nil, observer: any PostgresObserver = SilentPostgresObserver(),
    _ configure: (inout PostgresConfiguration) -> Void = { _ in }, _ body: (PostgresPool) async throws -> T
) async throws -> T {
    var configuration = PostgresConfiguration(
        connectionString: try connectionString ?? TestDatabase.connectionString())
    configuration.sharedConnections = 2
    configuration.backoff.initial = .milliseconds(20)
    configuration.backoff.max = .milliseconds(200)
    configure(&configuration)
    let pool = PostgresPool(configuration, logger: .silent, observer: observer)
    let running = Task { await pool.run() }
    let result: Result<T, any Error>
    do { result = .success(try await body(pool)) } catch { result = .failure(error) }
    running.cancel()
    await running.value
    return try result.get()
}

extension Logger {
    static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
}

/// The error that `body` throws, nil where it throws none or another kind.
func postgresError(_ body: () async throws -> Void) async -> PostgresError? {
    do { try await body() } catch { return error as? PostgresError }
    return nil
}

struct NeverHappened: Error {}

/// Asks again and again until `condition` holds, and gives up long after any machine would have got there.
func eventually(_ condition: () async throws -> Bool) async throws {
    let limit = ContinuousClock.now + .seconds(30)
    while try await !condition() {
        guard ContinuousClock.now < limit else { throw NeverHappened() }
        try await Task.sleep(for: .milliseconds(5))
    }
}

/// Fails rather than hangs.
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
