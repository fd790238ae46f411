import AppStoreSimulation
import Foundation
import Hummingbird
import NIOConcurrencyHelpers
import Postgres
import ReceiverSupport
import Testing

/// `receipt-relay webhooks replay` and `resync`, until a running copy delivers.
@Suite struct WebhookRepeatTests {
    private static func settings(_ port: Int) -> [String: String] {
        [
            "RELAY_WEBHOOK_URLS": "http://127.0.0.1:\(port)/hook", "RELAY_WEBHOOK_ALLOW_NETWORKS": "127.0.0.0/8",
            "RELAY_WEBHOOK_RETRY_SECONDS": "0.2", "RELAY_WEBHOOK_TIMEOUT_SECONDS": "2",
        ]
    }

    private static func command(
        _ arguments: [String], _ scene: PublisherScene
    ) async throws -> (code: Int32, output: [String]) {
        let ended = try await ChildProcess.run(
            "receipt-relay", ["webhooks"] + arguments, environment: ["RELAY_DATABASE_URL": scene.setup.database.url])
        return (ended.code, ended.output)
    }

    /// Whether the new message has the printed id.
    private static func repeats(_ told: Received, _ first: Received, as id: String) -> Bool {
        told.json["notification"]["reason"].string == "WEBHOOK_REPEATED" && told.headers["webhook-id"] == id
            && told.headers["webhook-id"] != first.headers["webhook-id"]
            && told.json["purchases"] == first.json["purchases"]
    }

    @Test func aMessageIsReplayedByItsId() async throws {
        try await withReceiver { port, received in
            try await PublisherScene.run(settings: Self.settings(port)) { scene in
                scene.life.bought(at: Date())
                try await scene.buy("ana@example.test", username: "u-77")
                let first = try await Received.messages(1, of: "u-77", received)[0]
                let id = try #require(first.headers["webhook-id"])
                let replayed = try await Self.command(["replay", id], scene)
                #expect(replayed.code == 0 && replayed.output.count == 1, "\(replayed.output)")
                let told = try await Received.messages(2, of: "u-77", received)
                #expect(Self.repeats(told[1], first, as: replayed.output[0]))

                let unknown = try await Self.command(["replay", String(repeating: "0", count: 38)], scene)
                #expect(unknown.code == 1 && unknown.output.contains { $0.contains("no message with that id") })
                #expect(try await Self.command(["replay", "nonsense"], scene).code != 0)
                #expect(try await Self.command(["replay"], scene).code != 0)
                #expect(try await Self.command(["replay", id, "--since", "2026-01-01"], scene).code != 0)
                #expect(received().count == 2)
            }
        }
    }

    /// Timeline: an endpoint was unavailable for longer than its retries. When it is back, it receives what it missed,
    /// once for each customer.
    @Test func missedMessagesAreReplayedAsARange() async throws {
        let isAway = NIOLockedValueBox(true)
        try await withReceiver { _ in
            Response(status: isAway.withLockedValue { $0 } ? .serviceUnavailable : .ok)
        } _: { port, received in
            try await PublisherScene.run(settings: Self.settings(port)) { scene in
                scene.life.bought(at: Date())
                try await scene.buy("ana@example.test", username: "u-77")
                let relay = scene.relay
                _ = try await Awaiting.fact("it is given up") {
                    try await relay.ops("/ops/webhooks?state=failed").json["items"]
                } holds: {
                    $0.array?.isEmpty == false
                }
                isAway.withLockedValue { $0 = false }
                let missed = received().count
                let dry = try await Self.command(["replay", "--since", "2020-01-01", "--dry-run"], scene)
                #expect(dry.code == 0 && dry.output == ["1 would be sent"])
                let none = try await Self.command(
                    ["replay", "--since", "2020-01-01", "--until", "2020-01-02"], scene)
                #expect(none.output == ["0 are sent"])
                let backwards = try await Self.command(
                    ["replay", "--since", "2020-01-02", "--until", "2020-01-01"], scene)
                #expect(backwards.code == 64)
                let sent = try await Self.command(["replay", "--since", "2020-01-01"], scene)
                #expect(sent.code == 0 && sent.output == ["1 are sent"], "\(sent.output)")
                let told = try await Received.messages(missed + 1, of: "u-77", received)
                #expect(told[missed].json["notification"]["reason"].string == "WEBHOOK_REPEATED")
                _ = try await Awaiting.fact("it is delivered") {
                    try await relay.ops("/ops/webhooks?state=delivered").json["items"]
                } holds: {
                    $0.array?.count == 1
                }
                // With `--delivered`, the range also contains the delivered message; the customer still counts once.
                let all = try await Self.command(
                    ["replay", "--since", "2020-01-01", "--delivered", "--dry-run"], scene)
                #expect(all.output == ["1 would be sent"], "each customer once")
            }
        }
    }

    @Test func aCustomersStateIsSentAgainToAllEndpoints() async throws {
        try await withReceiver { port, received in
            try await PublisherScene.run(settings: Self.settings(port)) { scene in
                let added = try await Self.command(
                    ["add", "--url", "http://127.0.0.1:\(port)/second"], scene)
                #expect(added.code == 0)
                scene.life.bought(at: Date())
                try await scene.buy("ana@example.test", username: "u-77")
                let first = try await Received.messages(2, of: "u-77", received)
                #expect(Set(first.map(\.path)) == ["/hook", "/second"])
                let resynced = try await Self.command(["resync", "--username", "u-77"], scene)
                #expect(resynced.code == 0 && resynced.output.count == 2, "\(resynced.output)")
                let told = try await Received.messages(4, of: "u-77", received)[2...]
                #expect(Set(told.map(\.path)) == ["/hook", "/second"])
                for id in resynced.output { #expect(told.contains { Self.repeats($0, first[0], as: id) }) }
                #expect(told.allSatisfy { $0.json["notification"]["reason"].string == "WEBHOOK_REPEATED" })

                // A mistyped name sends nothing and creates no customer.
                let stranger = try await Self.command(["resync", "--username", "nobody"], scene)
                #expect(stranger.code == 1 && stranger.output.contains { $0.contains("no purchase of that customer") })
                let made = try await scene.setup.database.query(
                    SQL("SELECT publisher FROM customers WHERE username = 'nobody'"))
                #expect(made.first == nil)
                let nobody = try await Self.command(["resync", "--username", "u-77", "--publisher", "nobody"], scene)
                #expect(nobody.code == 1 && nobody.output.contains { $0.contains("no endpoint takes messages") })
                #expect(try await Self.command(["resync"], scene).code != 0)
            }
        }
    }
}
