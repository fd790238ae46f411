import Foundation
import NIOHTTP1
import Postgres
import Testing

/// A relay that receives notifications of a store's simulator.
protocol StoreScene: Sendable {
    var setup: Setup { get }
    var simulator: OtherStores.Store { get }
    /// Prefix of the store's subscription keys.
    var store: String { get }
    /// Settings of the relay.
    var settings: [String: String] { get }

    /// Sets the target of notifications.
    func push(to relay: Relay) async throws

    /// Posts a purchase like an app.
    ///
    /// - Parameter relay: receiver; `nil` is the scene's relay.
    /// - Returns: its validation.
    func post(_ name: String, by email: String, to relay: Relay?) async throws -> String
}

extension StoreScene {
    /// The purchase's subscription in the ops API.
    func subscription(_ name: String, at relay: Relay? = nil) async throws -> JSON {
        try await (relay ?? setup.relay).ops("/ops/subscriptions?originalTransactionId=\(store):\(name)")
            .json["items"][0]
    }

    /// The stored notifications, newest first.
    func notifications(of name: String? = nil) async throws -> [JSON] {
        let filter = name.map { "?originalTransactionId=\(store):\($0)" } ?? ""
        return try await setup.relay.ops("/ops/notifications\(filter)").json["items"].array ?? []
    }

    /// - Parameter result: `stored`, `repeated`, or the reason of a refusal.
    func counted(_ result: String) async throws -> Double {
        try await metric(#"store_notifications_total{result="\#(result)",store="\#(store)"}"#)
    }

    func metric(_ line: String) async throws -> Double {
        let text = try await setup.relay.metrics()
        return text.split(separator: "\n").first { $0.hasPrefix(line) }
            .flatMap { $0.split(separator: " ").last }.flatMap { Double($0) } ?? 0
    }

    /// Waits until each delivered message is processed and the store was asked about it.
    func settled() async throws {
        try await Awaiting.fact("every message was delivered", is: 0) {
            try await simulator.control(.GET, "notifications").json["items"].array?.filter {
                $0["delivered"].bool == false && $0["lost"].bool == false
            }.count
        }
        do {
            try await Awaiting.fact("nothing is to be asked", is: 0) { try await waiting() }
        } catch {
            Issue.record("\(try await questions())")
            throw error
        }
    }

    /// Number of purchases about which stores must still be asked, without those with a doubted answer. First makes
    /// questions due that pause after a failure, as on a busy machine.
    func waiting() async throws -> Int {
        _ = try await setup.database.query(
            "UPDATE store_questions SET due_at = now() WHERE owner IS NULL AND trouble = 'the store cannot be asked now'"
        )
        return try await setup.database.query("SELECT count(*) FROM store_questions WHERE \(Self.isWaiting)")
            .map { try $0.get(0, as: Int.self) }[0]
    }

    private static var isWaiting: SQL { "(expects IS NULL OR doubts = 4 OR trouble IS NULL)" }

    /// All rows and messages about a purchase, for a failed test's message.
    func known(of name: String, at relay: Relay) async throws -> [String] {
        let key = "\(store):\(name)"
        var lines: [String] = []
        for table in ["ledgers", "subscriptions", "validations", "store_questions"] {
            lines += try await setup.database.query(
                "SELECT to_jsonb(t)::text FROM \(unescaped: table) t WHERE subscription_key = \(.text(key))"
            ).map { "\(table): \(try $0.get(0, as: String.self))" }
        }
        lines.append(try await relay.ops("/ops/notifications?originalTransactionId=\(key)").text)
        lines.append(try await relay.ops("/ops/subscriptions?originalTransactionId=\(key)").text)
        lines.append(try await simulator.control(.GET, "notifications").text)
        return lines
    }

    /// Open questions, for a failed test's message.
    private func questions() async throws -> [String] {
        try await setup.database.query(
            """
            SELECT concat_ws(' ', subscription_key, event, 'attempts', attempts, 'doubts', doubts, 'strikes', strikes,
                'failures', failures, 'owner', owner, 'parked', parked_at, 'due in', due_at - now(), trouble)
            FROM store_questions
            WHERE \(Self.isWaiting)
            """
        ).map { try $0.get(0, as: String.self) }
    }
}

/// Generator of random lives. The same seed gives the same lives.
struct RandomLives: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state
    }

    mutating func life(of count: Int, _ acts: [String]) -> [String] {
        (0..<count).map { _ in acts[Int((next() >> 33) % UInt64(acts.count))] }
    }
}
