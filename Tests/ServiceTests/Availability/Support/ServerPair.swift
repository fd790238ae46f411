import Foundation

/// A primary, and the synchronous standby that must confirm each of its commits.
struct ServerPair: Ends, Sendable {
    let primary: DatabaseServer
    let standby: DatabaseServer
    /// The relay's database. Its URL names both servers.
    let database: TestDatabase

    /// Runs `body` with both servers running and the schema applied. Removes them afterwards.
    static func run(_ body: (ServerPair) async throws -> Void) async throws {
        let pair = try await start()
        try await pair.during {
            try await body(pair)
        }
    }

    private static func start() async throws -> ServerPair {
        let primary = try await DatabaseServer()
        try await primary.start()
        let standby = try await DatabaseServer(following: primary)
        try await standby.start(following: primary)
        // From now on each commit waits for the standby.
        await primary.stop()
        try await primary.start(confirmedBy: "standby")
        try await awaitConfirmation(primary)
        let name = "relay"
        _ = try await primary.look("CREATE DATABASE \(name)")
        let hosts = [primary, standby].map { "127.0.0.1:\($0.port)" }.joined(separator: ",")
        let database = TestDatabase(name: name, url: "postgresql://relay@\(hosts)/\(name)")
        try await PrivateCluster.migrate(database)
        return ServerPair(primary: primary, standby: standby, database: database)
    }

    func end() async {
        await primary.end()
        await standby.end()
    }

    static func awaitConfirmation(_ primary: DatabaseServer) async throws {
        try await Awaiting.fact("the standby confirms", is: 1) {
            try await primary.count("pg_stat_replication WHERE sync_state = 'sync'")
        }
    }
}
