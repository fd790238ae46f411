import Foundation
import NIOConcurrencyHelpers
import Postgres
import ReceiverSupport
import TestRun
import Testing

extension DeliveryChaosTests {
    private static let contestants = 6
    /// Limit of consecutive contests for each contestant.
    private static let mostContests = 40

    @Test(.whole, .timeLimit(.paced(minutes: 4)))
    func allCommitsOfOneSubscriptionGetOneContract() async throws {
        try await ToldEndpoints.tryOut(Self.order)
    }

    private static func order(_ endpoints: ToldEndpoints, _ port: Int, _ seed: ChaosSeed) async throws -> [String] {
        let store = try TestAppStore()
        defer { store.end() }
        let settings = chaosSettings(store).merging(ToldEndpoints.settings(port), uniquingKeysWith: { $1 })
        let violations = NIOLockedValueBox<[String]>([])
        try await BadDay.run(settings: settings) { day in
            let key = try await Relay.makeKey("publisher", day.database)
            let scene = try await ChaosScene(day, cluster: .calm(), roles: ["front", "front", "worker"])
            let token = try await beginBilling(scene, key, port)
            let contests = try await contests(scene, store, token, seed)
            var found = contests.flatMap(\.violations)
            let made = try await day.database.query(
                SQL(
                    """
                    SELECT (SELECT count(*) FROM contracts), (SELECT count(*) FROM contract_subscriptions),
                           (SELECT count(*) FROM orders WHERE state = 2),
                           (SELECT count(*) FROM webhook_deliveries WHERE body LIKE '%ContractCreated%'),
                           (SELECT count(*) FROM webhook_deliveries WHERE body LIKE '%OrderSucceeded%')
                    """)
            ).map { row in try (0..<5).map { try row.get($0, as: Int.self) } }
            if made != [Array(repeating: contests.count, count: 5)] {
                found.append("of \(contests.count) subscriptions there are \(made) contracts, … and messages")
            }
            let expected = Set(contests.compactMap(\.contract))
            try await Awaiting.fact("each contract has its message") {
                try await Task.sleep(for: .milliseconds(100))
                let told = endpoints.arrivals.map(\.json).filter { $0["Event"].string == "ContractCreated" }
                return expected.subtracting(told.compactMap { $0["ContractId"].string })
            } holds: {
                $0.isEmpty
            }
            violations.withLockedValue { $0 = found }
            let answers = contests.flatMap(\.answers)
            Measured.note(
                "orders under chaos",
                "\(contests.count) subscriptions, \(answers.count) commits answered: \(Dictionary(grouping: answers, by: \.status).mapValues(\.count))"
            )
            #expect(contests.count > contestants, "\(seed)")
        }
        return violations.withLockedValue { $0 }
    }

    private static func beginBilling(_ scene: ChaosScene, _ key: String, _ port: Int) async throws -> String {
        guard let front = scene.front(0) else { throw HarnessError.failed("a front", []) }
        let granted = try await HTTP.post(
            front.url + "/oauth/token", headers: ["Content-Type": "application/x-www-form-urlencoded"],
            body: Data("grant_type=client_credentials&client_id=main&client_secret=\(key)".utf8))
        guard let token = granted.json["access_token"].string else {
            throw HarnessError.failed("a token", [granted.text])
        }
        let hook = try await HTTP.post(
            front.url + "/api/v1/webhooks",
            headers: ["Authorization": "Bearer \(token)", "Content-Type": "application/json"],
            body: Data(#"{"Url":"http://127.0.0.1:\#(port)\#(ToldEndpoints.steady)"}"#.utf8))
        guard hook.status == 201 else { throw HarnessError.failed("a webhook", [hook.text]) }
        return token
    }

    private static func contests(
        _ scene: ChaosScene, _ store: TestAppStore, _ token: String, _ seed: ChaosSeed
    ) async throws -> [OrderContest] {
        let isOver = NIOLockedValueBox(false)
        return try await withThrowingTaskGroup(of: [OrderContest].self) { group in
            for contestant in 0..<contestants {
                group.addTask {
                    var contests: [OrderContest] = []
                    for number in 0..<mostContests where !isOver.withLockedValue({ $0 }) {
                        var contest = OrderContest(scene, store, token: token, turn: contestant + number)
                        try await contest.play()
                        contests.append(contest)
                    }
                    let end = ContinuousClock.now + .seconds(10)
                    for index in contests.indices { try await contests[index].end(by: end) }
                    return contests
                }
            }
            group.addTask {
                try await CopyChaos.strike(scene, rounds: 4, seed: seed) { isOver.withLockedValue { $0 = true } }
                return []
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
    }
}
