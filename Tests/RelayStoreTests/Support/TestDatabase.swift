import Foundation
import Postgres
import RelayCore
import TestSupport

@testable import Relay

/// A database for one test, which is dropped afterwards.
actor TestDatabase {
    private static let gate = Gate(room: 6)

    let name: String
    private let url: String
    /// The test's own connections, to read and change rows.
    nonisolated let hand: PostgresPool
    private var running: [RunningPool]

    private init(name: String) throws {
        self.name = name
        self.url = try TestCluster.url(database: name)
        let hand = RunningPool(url: url, connections: 2)
        self.hand = hand.pool
        self.running = [hand]
    }

    /// A store with its own connections, like another process.
    ///
    /// - Parameters:
    ///   - parameters: session parameters besides the relay's own.
    ///   - vault: keys of a sealed database; `nil` leaves it unsealed.
    ///   - connections: number of connections for single statements, and as many for transactions.
    ///   - grantsAskedAt: stores that are asked at once about a new grant.
    ///   - planAge: see ``PostgresConfiguration/planAge``.
    ///   - features: those of the build.
    func store(
        _ instance: String, parameters: [String: String] = [:], vault: Vault? = nil, connections: Int = 2,
        grantsAskedAt: Set<StorePlatform> = [], planAge: ClosedRange<Duration>? = nil,
        features: [StoredFeature] = TestDatabase.features
    ) -> RelayStore {
        let vault = vault ?? .plain()
        let pool = RunningPool(
            url: url, connections: connections, parameters: parameters, vault: vault, planAge: planAge)
        running.append(pool)
        return RelayStore(
            pool: pool.pool, vault: vault, instance: instance, logger: .silent,
            features: features, grantsAskedAt: grantsAskedAt)
    }

    private func close() async {
        for pool in running { await pool.stop() }
    }

    /// - Parameter migrated: whether the database has the relay's schema; otherwise it is empty.
    static func run(migrated: Bool = false, _ body: (TestDatabase) async throws -> Void) async throws {
        await gate.enter()
        do {
            try await make(migrated, body)
        } catch {
            await gate.leave()
            throw error
        }
        await gate.leave()
    }

    private static func newName() -> String {
        "t_store_\(UUID().uuidString.replacingOccurrences(of: "-", with: "").lowercased())"
    }

    private static func make(_ migrated: Bool, _ body: (TestDatabase) async throws -> Void) async throws {
        let name = newName()
        // Copies the template's files, which takes a quarter of the time of the migrations.
        let template = migrated ? " TEMPLATE \(try await template.value()) STRATEGY FILE_COPY" : ""
        try await TestCluster.administer("CREATE DATABASE \(name)\(template)")
        let ended: Result<Void, any Error>
        do {
            let database = try TestDatabase(name: name)
            do {
                ended = .success(try await body(database))
            } catch {
                ended = .failure(error)
            }
            await database.close()
        } catch {
            ended = .failure(error)
        }
        try await TestCluster.administer("DROP DATABASE \(name) WITH (FORCE)")
        try ended.get()
    }

    /// A database with the schema, as a template for the others. It is removed with the cluster.
    private static let template = Once {
        let name = newName()
        try await TestCluster.administer("CREATE DATABASE \(name)")
        let database = try TestDatabase(name: name)
        try await database.store("template").schema.migrate()
        await database.close()
        return name
    }
}

/// Runs `body` with a database that has the relay's schema, and a store for it.
func withStore(_ body: (TestDatabase, RelayStore) async throws -> Void) async throws {
    try await TestDatabase.run(migrated: true) { database in
        let store = await database.store("one")
        try await store.encryption.readPrivateColumns()
        try await body(database, store)
    }
}

/// Like ``withStore(_:)``, with one store for each of several processes.
func withStores(_ count: Int, _ body: (TestDatabase, [RelayStore]) async throws -> Void) async throws {
    try await withStore { database, first in
        var stores = [first]
        for number in 1..<count { stores.append(await database.store("store-\(number)")) }
        try await body(database, stores)
    }
}

extension PrivateColumns {
    /// Those of all tables.
    static let all = common + TestDatabase.features.flatMap(\.tables.sealed)
}
