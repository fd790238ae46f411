import AppStoreSimulation
import Foundation
import NIOConcurrencyHelpers
import Postgres
import ReceiverSupport
import TestRun
import Testing

/// Tests of messages and answers to publishers while copies die and connections break. `RELAY_DELIVERY_SEED` sets
/// another seed.
@Suite(.serialized) struct DeliveryChaosTests {
    private static let customers = 20

    @Test(.whole, .timeLimit(.paced(minutes: 4)))
    func eachEndpointGetsEachCustomersStatesInOrder() async throws {
        try await ToldEndpoints.tryOut(Self.play)
    }

    /// - Returns: violations.
    private static func play(_ endpoints: ToldEndpoints, _ port: Int, _ seed: ChaosSeed) async throws -> [String] {
        let store = try TestAppStore()
        defer { store.end() }
        let settings = chaosSettings(store).merging(
            ToldEndpoints.settings(port, ToldEndpoints.steady, ToldEndpoints.moody), uniquingKeysWith: { $1 })
        let violations = NIOLockedValueBox<[String]>([])
        try await BadDay.run(settings: settings) { day in
            let key = try await Relay.makeKey("publisher", day.database)
            let scene = try await ChaosScene(day, cluster: .calm(), roles: ["front", "all", "worker"])
            let lives = try await live(scene, store, seed)
            // The steady endpoint must not wait for the moody one, which still fails.
            try await nothingIsQueued(day.database, ToldEndpoints.steady)
            endpoints.heal()
            try await nothingIsQueued(day.database, "")
            let states = lives.reduce(into: [:]) { $0.merge($1.states) { one, _ in one } }
            let history = try await ToldHistory(endpoints.arrivals, states, day.database)
            var found = history.violations
            for username in states.keys.sorted() {
                found += try await end(of: username, history, scene, key)
            }
            violations.withLockedValue { $0 = found }
            let (told, moves) = lives.reduce((0, 0)) { ($0.0 + $1.notifications, $0.1 + $1.moves) }
            Measured.note(
                "publishers' endpoints under chaos",
                "\(told) notifications, \(moves) moves, \(history.messages.count) messages, \(history.arrivals.count) arrivals"
            )
            // Checks that the scenario did something.
            #expect(told > 2 * customers && moves > 0 && history.arrivals.count > told, "\(seed)")
        }
        return violations.withLockedValue { $0 }
    }

    static func chaosSettings(_ store: TestAppStore) -> [String: String] {
        store.settings(
            relayingTo: nil,
            [
                "RELAY_VALIDATION_TIMEOUT_SECONDS": "60", "RELAY_LOG_LEVEL": "notice",
                "RELAY_DATABASE_CONNECTIONS": "2", "RELAY_CLEENG_DRIVER": "receipt",
            ])
    }

    private static func live(
        _ scene: ChaosScene, _ store: TestAppStore, _ seed: ChaosSeed
    ) async throws -> [ChaosLife] {
        let isOver = NIOLockedValueBox(false)
        return try await withThrowingTaskGroup(of: ChaosLife?.self) { group in
            for number in 0..<customers {
                group.addTask {
                    var life = try ChaosLife(number, scene, store, seed: seed)
                    try await life.live(steps: 23) { isOver.withLockedValue { $0 } }
                    return life
                }
            }
            group.addTask {
                try await CopyChaos.strike(scene, rounds: 4, seed: seed) { isOver.withLockedValue { $0 = true } }
                return nil
            }
            return try await group.reduce(into: []) { lives, life in life.map { lives.append($0) } }
        }
    }

    /// Waits until no message is left for the endpoints whose URL has this suffix.
    private static func nothingIsQueued(_ database: TestDatabase, _ path: String) async throws {
        try await TestDatabase.withPool(database.url) { pool in
            _ = try await Awaiting.fact("nothing waits for \(path.isEmpty ? "any endpoint" : path)", is: [[0, 0, 0]]) {
                return try await pool.query(
                    SQL(
                        """
                        SELECT (SELECT count(*) FROM ledgers WHERE due_at <= now()),
                               (SELECT count(*) FROM customers WHERE untold_since IS NOT NULL),
                               (SELECT count(*) FROM webhook_queue q JOIN webhook_endpoints e ON e.id = q.endpoint
                                WHERE e.url LIKE '%' || $1)
                        """, [.text(path)])
                ).map { [try $0.get(0, as: Int.self), try $0.get(1, as: Int.self), try $0.get(2, as: Int.self)] }
            }
        }
    }

    /// Checks that the API shows the last state of the life, and that each endpoint got it last.
    private static func end(
        of username: String, _ history: ToldHistory, _ scene: ChaosScene, _ key: String
    ) async throws -> [String] {
        guard let front = scene.front(0) else { throw HarnessError.failed("a front", []) }
        let expected = history.states[username]?.last ?? .nothing
        let path = "/v2/customers/\(username)/purchases?appName=main&apiKey=\(key)"
        let answer = try await HTTP.get(front.url + path).json["purchases"]
        var violations: [String] = []
        if ChaosLife.State(answer) != expected { violations.append("\(username) is shown \(answer), not \(expected)") }
        for path in [ToldEndpoints.steady, ToldEndpoints.moody] {
            let last = history.last(path, username)
            if last?.json["purchases"] != answer {
                violations.append("\(username) is shown \(answer), and \(path) heard last \(last?.body ?? "nothing")")
            }
        }
        return violations
    }
}
