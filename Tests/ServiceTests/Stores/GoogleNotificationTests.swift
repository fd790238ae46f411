import Foundation
import NIOHTTP1
import TestRun
import Testing

/// Tests of `POST /google/notifications` of the whole service, called by the simulated Pub/Sub.
@Suite struct GoogleNotificationTests {
    @Test func aRefundEndsAccessAndARenewalGoesOn() async throws {
        try await GoogleScene.run { scene in
            let id = try await scene.buy("token-1")
            // A question after the grant would find the end before the notification calls it a refund.
            try await scene.settled()
            try await scene.google.act("refund", "token-1")
            let revoked = try await scene.setup.relay.becomes("revoked", id)
            #expect(revoked["reason"].string == "refunded")
            let subscription = try await scene.subscription("token-1")
            #expect(subscription["status"].string == "revoked")
            try await Awaiting.fact("every notification is kept") {
                Set(try await scene.notifications(of: "token-1").compactMap { $0["type"].string })
            } holds: {
                $0 == ["SUBSCRIPTION_PURCHASED", "SUBSCRIPTION_REVOKED", "VOIDED_PURCHASE"]
            }
            let one = try #require(try await scene.notifications(of: "token-1").first)
            #expect(one["store"].string == "google" && one["bundleId"].string == "com.example.app")
            #expect(one["environment"].string == "unknown")

            try await scene.google.act("renew", "token-1")
            _ = try await scene.setup.relay.becomes("granted", id)
            try await Awaiting.fact("nothing waits", is: 0) {
                try await scene.setup.relay.ops("/ops/notifications?status=pending").json["items"].array?.count
            }
        }
    }

    /// Bought for cash: Google calls it pending, and Cleeng refuses it. Then it is paid.
    @Test func aPurchaseThatIsPaidLaterIsSentOnceMore() async throws {
        try await GoogleScene.run { scene in
            let (relay, control) = (scene.setup.relay, SimulatorControl(scene.setup.simulator))
            try await control.behave("ana@example.test", "reject")
            try await scene.google.has("token-1", #"{"state":"PENDING"}"#)
            let id = try await scene.post("token-1")
            _ = try await relay.becomes("rejected", id)
            try await scene.settled()
            try await control.behave("ana@example.test", "after-0s")
            try await scene.google.has("token-1")
            _ = try await relay.becomes("granted", id)
            try await scene.google.act("renew", "token-1")
            try await scene.settled()
            #expect(try await relay.timeline(id, "retried").count == 1)
            #expect(try await relay.poll(id).json["status"].string == "granted")
        }
    }

    /// Another publisher has the only key for the app. Google names the former purchase in its answer alone.
    @Test func aChangedPlanBelongsToThePublisherOfTheFormerOne() async throws {
        try await GoogleScene.run { scene in
            let id = try await scene.buy("token-1")
            _ = try await Relay.makeKey("app", scene.setup.database, app: "com.example.app", publisher: "nordic")
            try await scene.google.has("token-2", #"{"productId":"gold","linkedPurchaseToken":"token-1"}"#)
            try await Awaiting.fact("the new plan has the customer", is: "ana@example.test") {
                try await scene.subscription("token-2")["customerEmail"].string
            }
            try await scene.settled()
            try await scene.google.act("refund", "token-2")
            #expect(try await scene.setup.relay.becomes("revoked", id)["reason"].string == "refunded")
        }
    }

    private static let forgeries = [
        "signature", "audience", "none", "issuer", "email", "unverified", "expired", "algorithm",
    ]

    @Test(arguments: TestRun.all(forgeries, otherwise: 2))
    func aForgedOneIsRefusedAndCounted(_ forgery: String) async throws {
        let words = ["none": "unsigned", "unverified": "email"]
        try await GoogleScene.run { scene in
            try await scene.google.control(
                .POST, "notifications", #"{"notification":{"testNotification":{}},"forge":"\#(forgery)"}"#)
            let line = #"store_notifications_total{result="\#(words[forgery] ?? forgery)",store="google"}"#
            try await Awaiting.fact("it was refused", of: { try await scene.metric(line) }, holds: { $0 > 0 })
            let sent = try await scene.google.control(.GET, "notifications").json["items"][0]
            #expect(sent["lastStatus"].int == 403 && sent["delivered"].bool == false, "\(sent)")
            #expect(try await scene.notifications().isEmpty)
        }
    }

    @Test func whatIsNoNotificationIsRefusedAndWhatIsUnknownIsKept() async throws {
        try await GoogleScene.run(["RELAY_GOOGLE_PACKAGES": "com.example.app"]) { scene in
            for raw in ["{", "[]", #"{\"message\":{\"messageId\":\"1\",\"data\":\"bm90IGpzb24=\"}}"#] {
                try await scene.google.control(.POST, "notifications", #"{"raw":"\#(raw)"}"#)
            }
            try await Awaiting.fact("all are refused", is: [400, 400, 400]) {
                try await scene.google.control(.GET, "notifications").json["items"].array?.compactMap {
                    $0["lastStatus"].int
                }
            }
            #expect(try await scene.notifications().isEmpty)
            try await scene.google.control(.DELETE, "push")
            try await scene.push(to: scene.setup.relay)
            for known in [
                #"{"testNotification":{"version":"1.0"}}"#, #"{"somethingOfNextYear":{}}"#,
                #"{"subscriptionNotification":{"notificationType":99,"purchaseToken":"nobodys"}}"#,
            ] {
                try await scene.google.control(.POST, "notifications", #"{"notification":\#(known)}"#)
            }
            try await Awaiting.fact("all are kept", is: ["TEST", "UNKNOWN", "SUBSCRIPTION_TYPE_99"]) {
                Set(try await scene.notifications().compactMap { $0["type"].string })
            }
            try await scene.google.control(
                .POST, "notifications",
                #"{"notification":{"packageName":"com.example.other","testNotification":{}}}"#)
            let line = #"store_notifications_total{result="bundle",store="google"}"#
            try await Awaiting.fact("another app's is refused", of: { try await scene.metric(line) }, holds: { $0 > 0 })
        }
    }

    @Test func aKeyThatChangesIsFetched() async throws {
        try await GoogleScene.run { scene in
            try await scene.google.has("token-1")
            try await Awaiting.fact("it is kept", is: 1) { try await scene.notifications().count }
            // The key set was fetched a moment ago. The relay fetches it again after a pause, and Pub/Sub repeats the
            // push.
            try await scene.google.control(.POST, "keys", "{}")
            try await scene.google.act("cancel", "token-1")
            try await Awaiting.fact("it is kept too", is: 2) { try await scene.notifications().count }
        }
    }

    @Test func withoutItsSettingsTheRouteIsNotThere() async throws {
        try await Setup.run { setup in
            let answer = try await HTTP.post(
                setup.relay.url + "/google/notifications", headers: [:], body: Data("{}".utf8))
            #expect(answer.status == 404)
        }
    }

    /// Sends the notifications of the same lives first once and in order, then shuffled and duplicated.
    @Test(.whole, arguments: [UInt64.random(in: 1...1_000_000)])
    func theOrderAndTheNumberOfNotificationsChangeNothing(seed: UInt64) async throws {
        try await GoogleScene.run { scene in
            let lives = 25
            for number in 0..<lives {
                for kind in ["ordered", "shuffled"] {
                    try await scene.buy("\(kind)-\(number)", by: "\(kind)\(number)@example.test")
                }
            }
            try await scene.settled()
            var acts = RandomLives(seed: seed)
            let plans = (0..<lives).map { _ in
                acts.life(of: 20, ["renew", "cancel", "grace", "hold", "pause", "expire", "refund"])
            }
            var released = 0
            for kind in ["ordered", "shuffled"] {
                // In two parts, so that the store is also asked before the last notification.
                for part in [0..<10, 10..<20] {
                    try await scene.google.control(
                        .PUT, "delivery", #"{"hold":true,"duplicate":\#(kind == "shuffled" ? 1 : 0)}"#)
                    for (number, plan) in plans.enumerated() {
                        for act in plan[part] {
                            try await scene.google.act(act, "\(kind)-\(number)")
                            // Each in its own millisecond, since the order of two in the same one is unknown.
                            try await Task.sleep(for: .milliseconds(2))
                        }
                    }
                    let answer = try await scene.google.control(
                        .POST, "delivery/release", #"{"shuffle":\#(kind == "shuffled"),"seed":\#(seed)}"#)
                    if kind == "shuffled" { released += answer.json["released"].int ?? 0 }
                    try await scene.settled()
                }
            }
            #expect(released >= 1_000)
            for number in 0..<lives {
                let one = try await scene.subscription("ordered-\(number)")
                let other = try await scene.subscription("shuffled-\(number)")
                for field in ["status", "willRenew", "productId"] {
                    #expect("\(one[field])" == "\(other[field])", "seed \(seed), \(plans[number])")
                }
            }
        }
    }
}
