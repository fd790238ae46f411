import Logging
import Postgres
import Relay

/// A pool with the task that runs it.
struct RunningPool: Sendable {
    let pool: PostgresPool
    private let running: Task<Void, Never>

    init(
        url: String, connections: Int, parameters: [String: String] = [:], vault: Vault? = nil,
        planAge: ClosedRange<Duration>? = nil
    ) {
        var configuration = PostgresConfiguration(connectionString: url)
        if let planAge { configuration.planAge = planAge }
        configuration.sharedConnections = connections
        configuration.exclusiveConnections = connections
        configuration.connectionWait = .seconds(120)
        configuration.sessionParameters = RelayStore.sessionParameters.merging(parameters) { $1 }
        if let vault { configuration.vault = vault }
        configuration.queryTimeout = .seconds(120)
        let pool = PostgresPool(configuration, logger: .silent)
        self.pool = pool
        self.running = Task { await pool.run() }
    }

    func stop() async {
        running.cancel()
        await running.value
    }
}

extension Logger {
    static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
}
