import AppStoreSimulation
import Crypto
import Foundation
import TestRun
import Testing

/// Notifications reach Cleeng unchanged and in order, and are repeated until accepted.
@Suite struct NotificationRelayTests {
    private func run(
        settings more: [String: String] = [:], _ body: (BadDay, TestAppStore) async throws -> Void
    ) async throws {
        let store = try TestAppStore()
        defer { store.end() }
        try await BadDay.run { day in
            try await body(day, store)
        }
    }

    private func start(_ day: BadDay, _ store: TestAppStore, _ more: [String: String] = [:]) async throws -> Relay {
        try await day.relay(settings: store.settings(relayingTo: day.simulator, more))
    }

    /// Requests to Cleeng, in order.
    private func sent(_ day: BadDay, _ publisher: String = "123456789") async throws -> [JSON] {
        try await day.simulator.requests(path: TestAppStore.path(publisher))
    }

    private func digest(_ body: Data) -> String {
        SHA256.hash(data: body).map { String(format: "%02x", $0) }.joined()
    }

    @Test func eachIsForwardedUnchangedInTheOrderOfSigning() async throws {
        try await run { day, store in
            let relay = try await start(day, store)
            try await day.control.trouble("notification-503-1")
            var life = try store.subscription()
            let now = Date()
            let bought = try store.transactions.sign(life.bought(at: now.addingTimeInterval(-20)))
            let off = try store.transactions.sign(life.renewalTurned(.off, at: now.addingTimeInterval(-10)))
            let refunded = try store.transactions.sign(life.refunded(at: now))
            // The first try fails. A notification signed between the other two arrives last, and overtakes nothing that
            // was signed before it.
            for body in [bought, refunded, off] { #expect(try await relay.notify(body).status == 200) }
            let requests = try await Awaiting.fact("all are delivered") {
                try await sent(day).filter { $0["status"].int == 200 }
            } holds: {
                $0.count == 3
            }
            #expect(requests.map { $0["bodyDigest"].string } == [bought, off, refunded].map { digest($0) })
            #expect(requests.allSatisfy { $0["publisherToken"].string == "absent" })
            // The last result is written after Cleeng's answer.
            let items = try await Awaiting.fact("all count as delivered") {
                try await relay.ops("/ops/notifications?status=delivered").json["items"].array ?? []
            } holds: {
                $0.count == 3
            }
            #expect(items.allSatisfy { $0["relay"]["lastError"].isNull })
            #expect(items.map { $0["relay"]["attempts"].int ?? 0 }.reduce(0, +) >= 4)
        }
    }

    @Test func notificationsWaitWhileCleengIsAwayAndSurviveACrash() async throws {
        try await run { day, store in
            let relay = try await start(day, store)
            await day.endSimulator()
            var bodies: [Data] = []
            for _ in 0..<12 {
                var life = try store.subscription()
                bodies.append(try store.transactions.sign(life.bought(at: Date())))
            }
            for body in bodies { #expect(try await relay.notify(body).status == 200) }
            let waiting = try await relay.ops("/ops/notifications?status=pending").json["items"].array ?? []
            #expect(waiting.count == 12)
            #expect(try await relay.ops("/ops/summary").json["backlog"]["notifications"].int == 12)
            relay.process.signal(SIGKILL)
            try await day.restartSimulator()
            let next = try await start(day, store)
            try await Awaiting.fact("all are delivered", is: 12) {
                try await next.ops("/ops/notifications?status=delivered").json["items"].array?.count ?? 0
            }
            let digests = Set(try await sent(day).compactMap { $0["bodyDigest"].string })
            #expect(digests == Set(bodies.map { digest($0) }))
        }
    }

    @Test func aRefusedNotificationDelaysNoOtherAndCanBeReplayed() async throws {
        try await run { day, store in
            let relay = try await start(day, store)
            try await day.control.trouble("notification-422-1")
            var life = try store.subscription()
            #expect(try await relay.notify(life.bought(at: Date()), signedBy: store).status == 200)
            let refused = try await Awaiting.fact("it is refused") {
                try await relay.ops("/ops/notifications").json["items"][0]
            } holds: {
                $0["relay"]["lastError"].string != nil
            }
            #expect(refused["relay"]["lastError"].string == "refused: HTTP 422")
            #expect(try await relay.notify(life.renewed(at: Date()), signedBy: store).status == 200)
            try await Awaiting.fact("the next one passes", is: 1) {
                try await relay.ops("/ops/notifications?status=delivered").json["items"].array?.count ?? 0
            }
            let id = try #require(refused["id"].string)
            let metrics = try await relay.metrics()
            #expect(metrics.contains("relay_notifications_refused 1"))
            #expect(try await relay.opsPost("/ops/notifications/\(id)/replay", key: relay.keys.viewer).status == 403)
            let replayed = try await relay.opsPost("/ops/notifications/\(id)/replay")
            #expect(replayed.status == 202)
            #expect(replayed.json["relay"]["status"].string != nil)
            try await Awaiting.fact("it is delivered", is: "delivered") {
                try await relay.ops("/ops/notifications/\(id)").json["relay"]["status"].string ?? ""
            }
            let events = try await relay.subscription(life)["timeline"].array?.compactMap { $0["event"].string } ?? []
            #expect(events == ["subscribed", "did_renew", "replayed"])
        }
    }

    @Test(.whole) func aFrontStoresThemAndAWorkerElsewhereForwardsThem() async throws {
        try await run { day, store in
            let settings = store.settings(relayingTo: day.simulator)
            let front = try await day.relay(role: "front", settings: settings)
            var life = try store.subscription()
            #expect(try await front.notify(life.bought(at: Date()), signedBy: store).status == 200)
            _ = try await day.relay(role: "worker", settings: settings)
            try await Awaiting.fact("it is delivered", is: 1) { try await sent(day).count }
        }
    }

    @Test(.whole) func withoutThePublishersIDNothingIsForwardedAndTheStartWarns() async throws {
        try await run { day, store in
            let relay = try await start(day, store, ["RELAY_CLEENG_PUBLISHER_ID": ""])
            #expect(relay.process.output.count { $0.contains("RELAY_CLEENG_PUBLISHER_ID") } == 1)
            var life = try store.subscription()
            #expect(try await relay.notify(life.bought(at: Date()), signedBy: store).status == 200)
            #expect(
                try await relay.ops("/ops/notifications").json["items"][0]["relay"]["status"].string == "off")
        }
    }

    @Test(.whole, arguments: ["ftp://cleeng.example/x", "nowhere", "https://user@cleeng.example/", "https:///x"])
    func anAddressThatCannotBeUsedIsNamed(value: String) async throws {
        let ended = try await ChildProcess.run(
            "receipt-relay", ["serve"],
            environment: [
                "RELAY_DATABASE_URL": "postgresql://localhost/nothing", "RELAY_CLEENG_PUBLISHER_TOKEN": "t",
                "RELAY_CLEENG_NOTIFICATION_URL": value,
            ])
        #expect(ended.code == 78)
        #expect(ended.output.contains { $0.contains("RELAY_CLEENG_NOTIFICATION_URL") }, "\(ended.output)")
    }
}
