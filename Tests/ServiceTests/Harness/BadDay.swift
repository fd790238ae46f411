import Foundation
import NIOConcurrencyHelpers
import Testing

/// A database, a simulator, and relays that start and stop. All end with the test.
final class BadDay: Ends, Sendable {
    let database: TestDatabase
    let keys: Relay.Keys
    private let simulators = NIOLockedValueBox<[Simulator]>([])
    private let relays = NIOLockedValueBox<[Relay]>([])
    private let settings: [String: String]

    private init(_ database: TestDatabase, _ simulator: Simulator, settings: [String: String]) async throws {
        self.database = database
        self.settings = settings
        simulators.withLockedValue { $0 = [simulator] }
        keys = try await Relay.makeKeys(database)
    }

    /// - Parameters:
    ///   - cluster: cluster for the database; `nil` is the one that no test crashes.
    ///   - settings: settings of every relay. By default an app waits five minutes, so that short faults cause no
    ///     timeout.
    static func run(
        in cluster: PrivateCluster? = nil, grantAfter: Double = 0.2, settings: [String: String] = [:],
        _ body: (BadDay) async throws -> Void
    ) async throws {
        let cluster = if let cluster { cluster } else { try await PrivateCluster.calm() }
        try await run(on: cluster.database(), grantAfter: grantAfter, settings: settings, body)
    }

    /// - Parameter database: a database with the schema.
    static func run(
        on database: TestDatabase, grantAfter: Double = 0.2, settings: [String: String] = [:],
        _ body: (BadDay) async throws -> Void
    ) async throws {
        let simulator = try await Simulator.start(grantAfter: grantAfter, port: FixedPort.free())
        let all = ["RELAY_VALIDATION_TIMEOUT_SECONDS": "300"].merging(settings, uniquingKeysWith: { $1 })
        let day = try await BadDay(database, simulator, settings: all)
        try await day.during {
            try await body(day)
        }
    }

    func end() async {
        for relay in relays.withLockedValue({ $0 }) { await relay.end() }
        for simulator in simulators.withLockedValue({ $0 }) { await simulator.end() }
    }

    /// The running simulator.
    var simulator: Simulator { simulators.withLockedValue { $0[$0.count - 1] } }
    var control: SimulatorControl { SimulatorControl(simulator) }

    func relay(role: String = "all", isReady: Bool = true, settings: [String: String] = [:]) async throws -> Relay {
        let relay = try await Relay.start(
            database: database, simulator: simulator, role: role, keys: keys, isReady: isReady,
            settings: self.settings.merging(settings, uniquingKeysWith: { $1 }))
        relays.withLockedValue { $0.append(relay) }
        return relay
    }

    /// Ends the simulator, which loses its state.
    func endSimulator() async { await simulator.end() }

    /// Starts a new simulator at the same address.
    func restartSimulator(grantAfter: Double = 0.2) async throws {
        let port = URL(string: simulator.url)?.port ?? 0
        let started = try await Simulator.start(grantAfter: grantAfter, port: port)
        simulators.withLockedValue { $0.append(started) }
    }

    /// Expects that each accepted purchase was sent, and that no two calls for one purchase overlapped.
    func forwardedProperly(_ posted: [Posted]) async throws {
        let payments = try await control.payments()
        let sent = Set(payments.compactMap(\.email))
        #expect(posted.accepted.map(\.purchase.email).filter { !sent.contains($0) } == [])
        #expect(payments.filter { $0.json["overlappedWithSamePurchase"].bool != false }.count == 0)
    }
}
