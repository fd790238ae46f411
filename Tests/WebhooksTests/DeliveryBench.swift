import Formats
import Foundation
import Logging
import Postgres
import Relay
import RelayCore
import ServiceLifecycle

@testable import Webhooks

/// A test's own database, and services that deliver from it.
struct DeliveryBench: Sendable {
    struct NoCluster: Error, CustomStringConvertible {
        let description =
            "RELAY_TEST_DATABASE_URL is not set: run scripts/test, which starts a PostgreSQL for the tests"
    }

    let url: String
    let pool: PostgresPool
    let store: RelayStore

    static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    static func run(_ body: (DeliveryBench) async throws -> Void) async throws {
        guard let cluster = ProcessInfo.processInfo.environment["RELAY_TEST_DATABASE_URL"],
            var parts = URLComponents(string: cluster)
        else { throw NoCluster() }
        let name = "t_hooks_\(UUID().uuidString.replacingOccurrences(of: "-", with: "").lowercased())"
        try await withPool(cluster) { _ = try await $0.query(SQL(unescaped: "CREATE DATABASE \(name)")) }
        parts.path = "/\(name)"
        let url = parts.string ?? cluster
        var failure: (any Error)?
        do {
            try await withPool(url) { pool in
                let store = RelayStore(pool: pool, vault: .plain(), instance: "test", logger: silent)
                try await store.schema.migrate()
                try await store.webhooks.ensureFirstPublisher()
                try await body(DeliveryBench(url: url, pool: pool, store: store))
            }
        } catch {
            failure = error
        }
        try await withPool(cluster) { _ = try await $0.query(SQL(unescaped: "DROP DATABASE \(name) WITH (FORCE)")) }
        if let failure { throw failure }
    }

    private static func withPool(_ url: String, _ body: (PostgresPool) async throws -> Void) async throws {
        var configuration = PostgresConfiguration(connectionString: url)
        configuration.sharedConnections = 4
        configuration.exclusiveConnections = 2
        configuration.connectionWait = .seconds(120)
        configuration.queryTimeout = .seconds(120)
        let pool = PostgresPool(configuration, logger: silent)
        let running = Task { await pool.run() }
        do {
            try await body(pool)
        } catch {
            running.cancel()
            await running.value
            throw error
        }
        running.cancel()
        await running.value
    }

    func endpoint(
        _ port: Int, _ path: String = "/", host: String = "127.0.0.1", publisher: PublisherID = "main"
    ) async throws -> EndpointID {
        guard let id = try await store.webhooks.addEndpoint(publisher: publisher, url: "http://\(host):\(port)\(path)")
        else {
            throw NoCluster()
        }
        return id
    }

    func enqueue(_ deliveries: [NewDelivery]) async throws {
        _ = try await pool.withTransaction { try await $0.pipeline(DeliveryStatements.enqueue(deliveries)) }
    }

    static func state(
        _ endpoint: EndpointID, _ lane: String, _ sequence: Int, publisher: PublisherID = "main"
    ) -> NewDelivery {
        NewDelivery(
            endpoint: endpoint, publisher: publisher, lane: Username(lane), sequence: Int64(sequence),
            body: #"{"type":"purchases.updated","applicationUsername":"\#(lane)","n":\#(sequence)}"#, replaces: true,
            at: DatabaseClock().nowOrHostTime)
    }

    func number(_ sql: String) async throws -> Int {
        try await pool.query(SQL(sql)).first?.get(0) ?? 0
    }

    /// Repeats a check. Gives up after a time that is long enough for any machine.
    func eventually(_ what: String, _ holds: () async throws -> Bool) async throws {
        struct Never: Error { var what: String }
        let end = ContinuousClock.now + .seconds(180)
        while try await !holds() {
            guard ContinuousClock.now < end else { throw Never(what: what) }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    /// Runs a delivering copy during `body`, and then stops it.
    func delivering(
        _ instance: String = "one", timeout: Duration = .seconds(5), retries: [Duration] = [.milliseconds(50)],
        rooms: EndpointCapacity = EndpointCapacity(), hosts: HostDirectory = HostDirectory(),
        _ body: (Wakeup) async throws -> Void
    ) async throws {
        let client = WebhookClient(
            timeout: timeout, policy: AddressPolicy(allowing: ["127.0.0.0/8"].compactMap { AddressRange($0) }),
            hosts: hosts)
        let wakeup = Wakeup()
        let service = DeliveryService(
            store: RelayStore(pool: pool, vault: .plain(), instance: instance, logger: Self.silent), client: client,
            credentials: PerPublisher(WebhookCredentials(password: "pw")),
            settings: DeliverySettings(
                retries: WebhookRetries(pauses: retries), capacity: rooms, grace: .milliseconds(500)),
            wakeup: wakeup, logger: Self.silent)
        let group = ServiceGroup(configuration: .init(services: [.init(service: service)], logger: Self.silent))
        let running = Task { try await group.run() }
        var failure: (any Error)?
        do {
            try await body(wakeup)
        } catch {
            failure = error
        }
        await group.triggerGracefulShutdown()
        try await running.value
        if let failure { throw failure }
    }
}
