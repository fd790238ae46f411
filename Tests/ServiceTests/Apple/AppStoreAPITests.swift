import AppStoreSimulation
import Foundation
import NIOHTTP1
import Postgres
import TestRun
import Testing

/// Tests of the relay's calls to the App Store, with `app-store-simulator serve` in its place.
@Suite struct AppStoreAPITests {
    private struct Scene {
        var setup: Setup
        var store: TestAppStore
        var api: AppStoreAPI
        var life: SimulatedSubscription
        var relay: Relay { setup.relay }

        /// - Returns: the granted validation.
        mutating func buy(_ email: String) async throws -> String {
            life.bought(at: Date())
            let answer = try await relay.purchase(try store.purchase(life, email: email))
            let id = try #require(answer.json["validationId"].string, "\(answer.text)")
            #expect(try await relay.outcome(id)["status"].string == "granted")
            return id
        }

        func lookedUp() async throws -> String {
            let found = try await Awaiting.fact("it has been looked up") {
                try await relay.subscription(life)["timeline"].array?.first { $0["event"].string == "looked_up" }
            } holds: {
                $0 != nil
            }
            return found?["detail"].string ?? ""
        }
    }

    private func run(
        period: TimeInterval = 2, key: AppStoreAPI.Key? = nil, settings: [String: String] = [:],
        _ body: (inout Scene) async throws -> Void
    ) async throws {
        let store = try TestAppStore()
        defer { store.end() }
        let api = try await AppStoreAPI.start(signing: store)
        try await api.during {
            var all = api.settings(key ?? api.key)
            all["RELAY_APPLE_RENEWAL_LEEWAY_SECONDS"] = "1"
            all.merge(settings, uniquingKeysWith: { $1 })
            try await Setup.run(settings: store.settings(relayingTo: nil, all)) { setup in
                var scene = Scene(
                    setup: setup, store: store, api: api, life: try store.subscription(period: period))
                try await body(&scene)
            }
        }
    }

    @Test func anUnreportedRenewalIsFoundThere() async throws {
        try await run { scene in
            let id = try await scene.buy("ana@example.test")
            let end = Date().addingTimeInterval(3_600)
            try await scene.api.tell(scene.life, expiresAt: end)
            #expect(try await scene.lookedUp() == "App Store: active")
            let subscription = try await scene.relay.subscription(scene.life)
            #expect(subscription["status"].string == "active")
            let told = try await scene.relay.status(id)
            #expect(told["status"].string == "granted")
            #expect(told["expiresAt"].string?.prefix(16) == end.formatted(.iso8601).prefix(16))
            // Cleeng is not asked about known facts; both reads belong to the purchase itself.
            #expect(try await SimulatorControl(scene.setup.simulator).reads(of: "ana@example.test").count == 2)
            let calls = try await scene.api.requests()
            #expect(calls.allSatisfy { $0["authorized"].bool == true })
        }
    }

    /// The relay asks before any notification: about renewal, and about consent to a higher price.
    @Test func aPurchaseIsLookedUpAtOnce() async throws {
        try await run(period: 3_600) { scene in
            scene.life.bought(at: Date())
            let facts = ["autoRenewStatus": 0, "priceIncreaseStatus": 1]
            try await scene.api.tell(scene.life, expiresAt: Date().addingTimeInterval(3_600), facts)
            _ = try await scene.buy("ana@example.test")
            #expect(try await scene.lookedUp() == "App Store: active")
            let key = try await Relay.makeKey("publisher", scene.setup.database)
            let answer = try await HTTP.get(
                scene.relay.url + "/v2/customers/ana@example.test/purchases?appName=main&apiKey=\(key)")
            let purchase = answer.json["purchases"]["apple:\(scene.life.transaction.productId)"]
            #expect(purchase["renewalIntent"].string == "Lapse", "\(answer.text)")
            #expect(purchase["priceConsentStatus"].string == "Agreed", "\(answer.text)")
            #expect(purchase["isBillingRetryPeriod"].bool == false, "\(answer.text)")
            // One question is enough.
            let calls = try await scene.api.requests()
            #expect(calls.count { $0["path"].string?.contains("/inApps/v1/subscriptions/") == true } == 1, "\(calls)")
        }
    }

    /// A running subscription causes no question to Cleeng, and its end is not postponed.
    @Test func aFailedQuestionIsRepeated() async throws {
        try await run(period: 3_600) { scene in
            try await scene.api.trouble(#"{"status":500}"#)
            let id = try await scene.buy("ana@example.test")
            let waits = try await Awaiting.fact("it is to be asked again") {
                try await scene.relay.subscription(scene.life)
            } holds: {
                $0["trouble"].string == "the store cannot be asked now"
            }
            let next = try #require(waits["nextLookAt"].string.flatMap(Date.init(milliseconds:)))
            #expect(next < Date() + 601)
            #expect(try await scene.relay.poll(id).json["status"].string == "granted")
            #expect(try await SimulatorControl(scene.setup.simulator).reads(of: "ana@example.test").count == 2)
        }
    }

    /// Production never answers for an unreleased app.
    @Test(.whole) func anOutageOfProductionDoesNotDelayTheSandbox() async throws {
        let settings = ["RELAY_APPLE_ENVIRONMENTS": "Production,Sandbox", "RELAY_APPLE_HISTORY_INTERVAL_SECONDS": "1"]
        try await run(period: 6, settings: settings) { scene in
            _ = try await scene.buy("ana@example.test")
            try await scene.api.tell(scene.life, expiresAt: Date().addingTimeInterval(3_600))
            try await Awaiting.fact("production has been asked in vain") {
                try await scene.relay.metrics()
            } holds: {
                $0.contains(#"relay_app_store_calls_total{route="notifications",verdict="try_again"}"#)
            }
            #expect(try await scene.lookedUp() == "App Store: active")
        }
    }

    /// Cleeng does not know the renewal yet, so Apple's statement counts.
    @Test(.whole) func anUnreportedEndIsFoundThere() async throws {
        try await run { scene in
            let id = try await scene.buy("ana@example.test")
            try await scene.api.tell(scene.life, expiresAt: Date().addingTimeInterval(2), status: 2)
            #expect(try await scene.relay.becomes("revoked", id)["reason"].string == "expired")
            #expect(try await scene.lookedUp() == "App Store: expired")
        }
    }

    private static let troubles = [
        #"{"status":429,"retryAfterMilliseconds":60000}"#, #"{"status":500}"#, #"{"reset":true}"#,
    ]

    @Test(arguments: TestRun.all(troubles, otherwise: 1))
    func cleengIsAskedWhenTheAppStoreCannotBe(trouble: String) async throws {
        try await run { scene in
            try await scene.api.trouble(trouble)
            _ = try await scene.buy("ana@example.test")
            #expect(try await scene.lookedUp() == "Cleeng: entitled to S123456789_US")
        }
    }

    @Test(.whole) func cleengIsAskedAboutWhatTheAppStoreDoesNotKnow() async throws {
        try await run { scene in
            _ = try await scene.buy("ana@example.test")
            #expect(try await scene.lookedUp() == "Cleeng: entitled to S123456789_US")
        }
    }

    @Test func aKeyThatIsRefusedIsOurConfiguration() async throws {
        let key = try await AppStoreAPI.Key.make()
        defer { key.end() }
        try await run(key: key) { scene in
            _ = try await scene.buy("ana@example.test")
            #expect(try await scene.lookedUp() == "Cleeng: entitled to S123456789_US")
            let metrics = try await scene.relay.metrics()
            #expect(metrics.contains(#"relay_app_store_calls_total{route="subscriptions",verdict="misconfigured"} 1"#))
            let key = try String(contentsOfFile: scene.api.key.file, encoding: .utf8)
            let secret = key.split(separator: "\n").dropFirst().first.map(String.init) ?? "-----"
            #expect(!scene.relay.process.output.contains { $0.contains(secret) || $0.contains("Bearer") })
        }
    }

    @Test func anUnsignedAnswerIsNotAccepted() async throws {
        let stranger = try TestAppStore(isStranger: true)
        defer { stranger.end() }
        let store = try TestAppStore()
        defer { store.end() }
        let api = try await AppStoreAPI.start(signing: stranger)
        var settings = store.settings(relayingTo: nil, api.settings(api.key))
        settings["RELAY_APPLE_RENEWAL_LEEWAY_SECONDS"] = "1"
        try await Setup.run(settings: settings) { setup in
            var scene = Scene(setup: setup, store: store, api: api, life: try store.subscription(period: 2))
            _ = try await scene.buy("ana@example.test")
            try await api.tell(scene.life, expiresAt: Date().addingTimeInterval(3_600), status: 2)
            #expect(try await scene.lookedUp() == "Cleeng: entitled to S123456789_US")
        }
        await api.end()
    }

    /// Notifications that were signed and never posted, in the App Store's history, on more than one page.
    @Test func missedNotificationsAreFetchedAndForwarded() async throws {
        try await run(period: 86_400, settings: ["RELAY_APPLE_HISTORY_INTERVAL_SECONDS": "1"]) { scene in
            try await Awaiting.fact("it is known until when nothing is missing") {
                try await scene.setup.database.query(
                    SQL(
                        "SELECT FROM duties WHERE name = 'missed_sandbox_notifications' AND progress IS NOT NULL"))
            } holds: {
                $0.count == 1
            }
            let id = try await scene.buy("ana@example.test")
            for _ in 0..<4 {
                var other = try scene.store.subscription()
                try await scene.api.lose(other.bought(at: Date()), signedBy: scene.store)
            }
            let refund = scene.life.refunded(at: Date())
            try await scene.api.lose(refund, signedBy: scene.store)
            #expect(try await scene.relay.becomes("revoked", id)["reason"].string == "refunded")
            try await Awaiting.fact("all five are kept") {
                try await scene.relay.ops("/ops/notifications").json["items"].array ?? []
            } holds: {
                $0.count == 5
            }
            // The same notification arrives again, as it may from Apple.
            #expect(try await scene.relay.notify(refund, signedBy: scene.store).status == 200)
            #expect(try await scene.relay.ops("/ops/notifications").json["items"].array?.count == 5)
        }
    }

    @Test(.whole) func aMissedNotificationThatFailsDelaysNoOther() async throws {
        try await run(period: 86_400, settings: ["RELAY_APPLE_HISTORY_INTERVAL_SECONDS": "1"]) { scene in
            let database = scene.setup.database
            try await Awaiting.fact("it is known until when nothing is missing") {
                try await database.query(
                    SQL(
                        "SELECT FROM duties WHERE name = 'missed_sandbox_notifications' AND progress IS NOT NULL"))
            } holds: {
                $0.count == 1
            }
            #expect(try await scene.relay.notify(scene.life.bought(at: Date()), signedBy: scene.store).status == 200)
            _ = try await database.query(SQL("CREATE TABLE kept AS SELECT * FROM ledgers"))
            _ = try await database.query(SQL("UPDATE ledgers SET state = '{', due_at = NULL"))
            // In any reading order, another one follows the bad one.
            for number in 0..<3 {
                if number == 1 {
                    try await scene.api.lose(scene.life.refunded(at: Date()), signedBy: scene.store)
                } else {
                    var other = try scene.store.subscription()
                    try await scene.api.lose(other.bought(at: Date()), signedBy: scene.store)
                }
            }
            func kept(_ count: Int) async throws {
                try await Awaiting.fact("\(count) are kept", within: .seconds(40)) {
                    try await scene.relay.ops("/ops/notifications").json["items"].array ?? []
                } holds: {
                    $0.count == count
                }
            }
            try await kept(3)
            // After the repair of its row, the range is requested again.
            _ = try await database.query(
                SQL(
                    "UPDATE ledgers l SET state = k.state FROM kept k WHERE k.subscription_key = l.subscription_key"))
            try await kept(4)
        }
    }

    @Test(
        .whole,
        arguments: [
            ("RELAY_APPLE_API_KEY_ID", "RELAY_APPLE_API_KEY_ID is required"),
            ("RELAY_APPLE_API_KEY", "RELAY_APPLE_API_KEY is malformed"),
            ("RELAY_APPLE_BUNDLE_IDS", "RELAY_APPLE_BUNDLE_IDS is malformed"),
        ]) func aKeyThatCannotBeUsedStopsTheStart(setting: String, told: String) async throws
    {
        let key = try await AppStoreAPI.Key.make()
        defer { key.end() }
        var settings = [
            "RELAY_DATABASE_URL": "postgresql://127.0.0.1:1/x", "RELAY_CLEENG_PUBLISHER_TOKEN": "token",
            "RELAY_APPLE_BUNDLE_IDS": "com.example.app", "RELAY_APPLE_API_KEY_FILE": key.file,
            "RELAY_APPLE_API_KEY_ID": AppStoreAPI.keyID, "RELAY_APPLE_API_ISSUER_ID": AppStoreAPI.issuerID,
        ]
        switch setting {
        case "RELAY_APPLE_API_KEY":
            settings["RELAY_APPLE_API_KEY_FILE"] = nil
            settings[setting] = "no key"
        default: settings[setting] = nil
        }
        let ended = try await ChildProcess.run("receipt-relay", ["serve"], environment: settings)
        #expect(ended.code != 0)
        #expect(ended.output.contains { $0.contains(told) }, "\(ended.output)")
    }
}
