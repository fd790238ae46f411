import AppStoreSimulation
import Foundation
import Hummingbird
import NIOConcurrencyHelpers
import ReceiverSupport
import Testing

/// The messages of a publisher's endpoint about its customers, from the grant to the delivery.
@Suite struct WebhooksTests {
    private static let product = "apple:com.example.app.monthly"
    private static let secret = Data("a secret of twenty-four b".utf8)

    private static func settings(_ port: Int, path: String = "/hook") -> [String: String] {
        [
            "RELAY_WEBHOOK_URLS": "http://127.0.0.1:\(port)\(path)", "RELAY_WEBHOOK_PASSWORD": "pass\"word",
            "RELAY_WEBHOOK_SECRETS": "whsec_\(secret.base64EncodedString())",
            "RELAY_WEBHOOK_ALLOW_NETWORKS": "127.0.0.0/8", "RELAY_WEBHOOK_RETRY_SECONDS": "0.3,0.3,0.3",
            "RELAY_WEBHOOK_TIMEOUT_SECONDS": "2",
        ]
    }

    @Test func eachChangeIsSentWithTheWholeStateSignedAndInOrder() async throws {
        try await withReceiver { port, received in
            try await PublisherScene.run(settings: Self.settings(port)) { scene in
                scene.life.bought(at: Date())
                try await scene.buy("ana@example.test", username: "u-77")
                var told = try await Received.messages(1, of: "u-77", received)
                let first = told[0]
                let body = first.json
                #expect(first.path == "/hook" && body["type"].string == "purchases.updated")
                #expect(body.keys == ["type", "password", "applicationUsername", "notification", "purchases"])
                #expect(body["password"].string == "pass\"word")
                #expect(body["notification"]["reason"].string == "PURCHASED")
                #expect(
                    body["notification"].keys.isSubset(of: [
                        "reason", "id", "date", "productId", "purchaseId", "transactionId",
                    ]))
                #expect(body["notification"]["purchaseId"].string == "apple:\(scene.life.originalTransactionId)")
                #expect(body["notification"]["productId"].string == Self.product)
                #expect(body["purchases"] == (try await scene.purchases("u-77")))
                #expect(first.isSigned(by: Self.secret))
                try await scene.tell(scene.life.renewalTurned(.off, at: Date()))
                told = try await Received.messages(2, of: "u-77", received)
                #expect(told[1].json["notification"]["reason"].string == "WILL_LAPSE")
                #expect(told[1].json["purchases"][Self.product]["renewalIntent"].string == "Lapse")
                try await scene.tell(scene.life.refunded(at: Date()))
                told = try await Received.messages(3, of: "u-77", received)
                #expect(told[2].json["notification"]["reason"].string == "REFUNDED")
                #expect(told[2].json["purchases"][Self.product]["isExpired"].bool == true)
                #expect(Set(told.compactMap { $0.headers["webhook-id"] }).count == 3)
            }
        }
    }

    @Test func aTransferIsSentForBothCustomers() async throws {
        try await withReceiver { port, received in
            try await PublisherScene.run(settings: Self.settings(port)) { scene in
                scene.life.bought(at: Date())
                try await scene.buy("ana@example.test", username: "ana-1")
                _ = try await Received.messages(1, of: "ana-1", received)
                try await scene.buy("ben@example.test", username: "ben-1")
                let ben = try await Received.messages(1, of: "ben-1", received)
                let ana = try await Received.messages(2, of: "ana-1", received)
                #expect(ben[0].json["notification"]["reason"].string == "PURCHASED")
                #expect(ana[1].json["notification"]["reason"].string == "OTHER")
                #expect(ana[1].json["purchases"].object?.isEmpty == true)
            }
        }
    }

    @Test func aFailedMessageIsRepeatedUnchangedWithItsID() async throws {
        let failures = NIOLockedValueBox(2)
        try await withReceiver { _ in
            let fails = failures.withLockedValue { left in
                left -= 1
                return left >= 0
            }
            return Response(status: fails ? .internalServerError : .ok)
        } _: { port, received in
            try await PublisherScene.run(settings: Self.settings(port)) { scene in
                scene.life.bought(at: Date())
                try await scene.buy("ana@example.test", username: "u-77")
                let tries = try await Received.messages(3, of: "u-77", received)
                #expect(Set(tries.compactMap { $0.headers["webhook-id"] }).count == 1)
                #expect(Set(tries.map(\.body)).count == 1)
                let list = try await Awaiting.fact("it is delivered") {
                    try await scene.relay.ops("/ops/webhooks?applicationUsername=u-77").json["items"]
                } holds: {
                    $0[0]["state"].string == "delivered"
                }
                #expect(list[0]["tries"].int == 3 && list[0]["lastStatus"].int == 200)
                #expect(list[0]["url"].string == "http://127.0.0.1:\(port)/hook")
                let id = try #require(list[0]["id"].string)
                // The present state is sent again, under a new id.
                #expect(try await scene.relay.opsPost("/ops/webhooks/\(id)/replay").status == 202)
                let repeated = try await Received.messages(4, of: "u-77", received)
                #expect(repeated[3].json["notification"]["reason"].string == "WEBHOOK_REPEATED")
                #expect(Set(repeated.compactMap { $0.headers["webhook-id"] }).count == 2)
            }
        }
    }

    @Test func aProductionEndpointGetsNoSandboxMessages() async throws {
        try await withReceiver { port, received in
            try await PublisherScene.run(
                settings: Self.settings(port).merging(["RELAY_WEBHOOK_URLS": ""], uniquingKeysWith: { $1 })
            ) { scene in
                for (environment, path) in [("production", "real"), ("sandbox", "test")] {
                    let added = try await ChildProcess.run(
                        "receipt-relay",
                        [
                            "webhooks", "add", "--url", "http://127.0.0.1:\(port)/\(path)", "--environment",
                            environment,
                        ], environment: ["RELAY_DATABASE_URL": scene.setup.database.url])
                    #expect(added.code == 0 && added.output.count == 1)
                }
                scene.life.bought(at: Date())
                try await scene.buy("ana@example.test", username: "u-77")
                let told = try await Received.messages(1, of: "u-77", received)
                #expect(told[0].path == "/test")
                try await scene.tell(scene.life.renewalTurned(.off, at: Date()))
                #expect(try await Received.messages(2, of: "u-77", received).allSatisfy { $0.path == "/test" })
            }
        }
    }

    /// A copy that dies between commit and delivery loses nothing: the next copy delivers the message.
    @Test func aDeadCopysMessagesAreSent() async throws {
        try await withReceiver { port, received in
            try await PublisherScene.run(
                settings: Self.settings(port).merging(["RELAY_WEBHOOK_URLS": "http://127.0.0.1:9/nobody"]) { $1 }
            ) { scene in
                scene.life.bought(at: Date())
                try await scene.buy("ana@example.test", username: "u-77")
                kill(scene.relay.process.pid, SIGKILL)
                let other = try await Relay.start(
                    database: scene.setup.database, simulator: scene.setup.simulator, keys: scene.relay.keys,
                    settings: scene.store.settings(relayingTo: nil, Self.settings(port)))
                // The former endpoint is gone, and the new one receives the next change.
                let answer = try await other.notify(scene.life.renewalTurned(.off, at: Date()), signedBy: scene.store)
                #expect(answer.status == 200)
                // If the dead copy had not composed it yet, the purchase is sent first.
                _ = try await Awaiting.fact("the change has arrived", is: "Lapse") {
                    received().last.map { $0.json["purchases"][Self.product]["renewalIntent"].string }
                }
                await other.end()
            }
        }
    }
}
