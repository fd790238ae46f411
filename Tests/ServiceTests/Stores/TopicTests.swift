import Foundation
import NIOHTTP1
import Postgres
import Testing

/// Tests of subscriptions to SNS topics. No message arrives before the confirmation.
@Suite struct TopicTests {
    /// The notification that requests the confirmation.
    private func asked(_ scene: AmazonScene) async throws -> String {
        let id = try await Awaiting.fact("the relay is asked to confirm") {
            try await scene.notifications().first { $0["type"].string == "SubscriptionConfirmation" }?["id"].string
        } holds: {
            $0 != nil
        }
        return try #require(id)
    }

    @Test func anOperatorConfirmsIt() async throws {
        try await AmazonScene.run(isConfirmed: false) { scene in
            let id = try await asked(scene)
            let topic = try await scene.topic()
            #expect(topic["state"].string == "unconfirmed" && topic["notificationId"].string == id)
            #expect(topic["topic"].string == OtherStores.topic)
            // An operator who must enter the token in the store's own console finds it here.
            let detail = try await scene.setup.relay.ops("/ops/notifications/\(id)").json
            #expect(detail["payload"]["Token"].string?.isEmpty == false)
            let confirmed = try await HTTP.post(
                scene.setup.relay.opsURL + "/ops/notifications/\(id)/confirm",
                headers: [
                    "Authorization": "Bearer \(scene.setup.relay.keys.operator)", "Content-Type": "application/json",
                ], body: Data(#"{"reason":"a test"}"#.utf8))
            #expect(confirmed.status == 202, "\(confirmed.text)")
            #expect(try await scene.topic()["state"].string == "confirmed")
            let purchase = try await scene.buy("receipt-1")
            try await scene.amazon.act("refund", "receipt-1")
            _ = try await scene.setup.relay.becomes("revoked", purchase)
        }
    }

    @Test func theRelayConfirmsItByItself() async throws {
        try await AmazonScene.run(["RELAY_AMAZON_SNS_CONFIRM": "auto"], isConfirmed: false) { scene in
            try await Awaiting.fact("it is confirmed", is: "confirmed") { try await scene.topic()["state"].string }
            let audit = try await scene.setup.database.query(
                "SELECT count(*) FROM audit_log WHERE action = 'topic.confirm' AND actor = 'relay'"
            ).map { try $0.get(0, as: Int.self) }
            #expect(audit == [1])
        }
    }

    @Test func whileSNSIsAwayItIsAskedAgain() async throws {
        try await AmazonScene.run(
            ["RELAY_AMAZON_SNS_CONFIRM": "auto", "RELAY_AMAZON_SNS_URL": "http://127.0.0.1:1/"], isConfirmed: false
        ) { scene in
            let id = try await asked(scene)
            try await Awaiting.fact("SNS comes again", of: { try await scene.counted("failed") }, holds: { $0 > 1 })
            #expect(try await scene.topic()["state"].string == "unconfirmed")
            #expect(try await scene.notifications().count == 1)
            let refused = try await HTTP.post(
                scene.setup.relay.opsURL + "/ops/notifications/\(id)/confirm",
                headers: [
                    "Authorization": "Bearer \(scene.setup.relay.keys.operator)", "Content-Type": "application/json",
                ], body: Data(#"{"reason":"a test"}"#.utf8))
            #expect(refused.status == 503)
        }
    }

    @Test func onlyARequestForConfirmationCanBeConfirmed() async throws {
        try await AmazonScene.run { scene in
            try await scene.amazon.control(.POST, "notifications", #"{"message":{"notificationType":"X"}}"#)
            let id = try await Awaiting.fact("it is kept") {
                try await scene.notifications().first?["id"].string
            } holds: {
                $0 != nil
            }
            let refused = try await HTTP.post(
                scene.setup.relay.opsURL + "/ops/notifications/\(id ?? "")/confirm",
                headers: [
                    "Authorization": "Bearer \(scene.setup.relay.keys.operator)", "Content-Type": "application/json",
                ], body: Data(#"{"reason":"a test"}"#.utf8))
            #expect(refused.status == 409)
        }
    }
}
