import AppStoreSimulation
import Foundation
import Hummingbird
import NIOConcurrencyHelpers
import Postgres
import ReceiverSupport
import Testing

/// Apple's notifications that concern no purchase are stored, shown, and sent to the publisher's endpoints.
@Suite struct StoreNoticeTests {
    private func body(_ store: TestAppStore, _ json: String) throws -> Data {
        let signed = try store.transactions.sign(
            json: Data(
                json.replacing("NOW", with: "\(Int(Date().timeIntervalSince1970 * 1_000))").utf8))
        return Data(#"{"signedPayload":"\#(signed)"}"#.utf8)
    }

    private func run(
        environment: String,
        _ respond: @escaping @Sendable (Received) async -> Response = { _ in Response(status: .ok) },
        _ body: @escaping @Sendable (Setup, TestAppStore, @escaping @Sendable () -> [Received]) async throws -> Void
    ) async throws {
        let store = try TestAppStore()
        defer { store.end() }
        try await withReceiver(respond) { port, received in
            let settings = store.settings(
                relayingTo: nil,
                [
                    "RELAY_WEBHOOK_ALLOW_NETWORKS": "127.0.0.0/8", "RELAY_WEBHOOK_PASSWORD": "s3cr3t",
                    "RELAY_WEBHOOK_RETRY_SECONDS": "1,1,1",
                ])
            try await Setup.run(settings: settings) { setup in
                let added = try await ChildProcess.run(
                    "receipt-relay",
                    ["webhooks", "add", "--url", "http://127.0.0.1:\(port)/", "--environment", environment],
                    environment: ["RELAY_DATABASE_URL": setup.database.url])
                #expect(added.code == 0, "\(added.output)")
                try await body(setup, store, received)
            }
        }
    }

    private static let rescinded = """
        {"notificationType":"RESCIND_CONSENT","notificationUUID":"002e14d5-51f5-4503-b5a8-c3a1af68eb20","version":"2.0","signedDate":NOW,\
        "appData":{"bundleId":"com.example.app","environment":"Sandbox","signedAppTransactionInfo":"a.b.c"}}
        """
    private static let token = """
        {"notificationType":"EXTERNAL_PURCHASE_TOKEN","subtype":"UNREPORTED","notificationUUID":"102e14d5-51f5-4503-b5a8-c3a1af68eb20",\
        "version":"2.0","signedDate":NOW,"externalPurchaseToken":{"externalPurchaseId":"SANDBOX_b2158121","tokenCreationDate":1698148950000,\
        "appAppleId":55555,"bundleId":"com.example.app"}}
        """

    @Test func aRescindedConsentIsSentUntilItIsAccepted() async throws {
        let failures = NIOLockedValueBox(1)
        try await run(environment: "all") { _ in
            let fails = failures.withLockedValue { left in
                defer { left -= 1 }
                return left > 0
            }
            return Response(status: fails ? .internalServerError : .ok)
        } _: { setup, store, received in
            #expect(try await setup.relay.notify(try body(store, Self.rescinded)).status == 200)
            // A repeat is not sent to endpoints.
            #expect(try await setup.relay.notify(try body(store, Self.rescinded)).status == 200)
            let messages = try await Awaiting.fact(
                "two messages have arrived", of: { received() }, holds: { $0.count == 2 })
            let json = messages[1].json
            #expect(json.keys == ["type", "password", "notification"])
            #expect(json["type"].string == "store.notification")
            #expect(json["password"].string == "s3cr3t")
            #expect(json["notification"]["store"].string == "apple")
            #expect(json["notification"]["type"].string == "RESCIND_CONSENT")
            #expect(json["notification"]["bundleId"].string == "com.example.app")
            #expect(json["notification"]["environment"].string == "Sandbox")
            #expect(json["notification"]["appData"]["signedAppTransactionInfo"].string == "a.b.c")
            #expect(messages[0].headers["webhook-id"] == messages[1].headers["webhook-id"])
            #expect(messages[0].body == messages[1].body)
            try await isSentAgain(setup, messages[1], received)
        }
    }

    /// Replays by id only: a range sends customers' states, and this message concerns no customer.
    private func isSentAgain(
        _ setup: Setup, _ first: Received, _ received: @escaping @Sendable () -> [Received]
    ) async throws {
        let id = try #require(first.headers["webhook-id"])
        #expect(try await setup.relay.opsPost("/ops/webhooks/\(id)/replay").status == 202)
        let messages = try await Awaiting.fact(
            "a third message has arrived", of: { received() }, holds: { $0.count == 3 })
        #expect(messages[2].body == first.body)
        #expect(messages[2].headers["webhook-id"] != id)
        let range = try await ChildProcess.run(
            "receipt-relay", ["webhooks", "replay", "--since", "2020-01-01", "--delivered", "--dry-run"],
            environment: ["RELAY_DATABASE_URL": setup.database.url])
        #expect(range.output == ["0 would be sent"])
        let customers = try await setup.database.query("SELECT 1 FROM customers")
        #expect(customers.isEmpty, "nobody is made of its lane")
    }

    @Test func aSandboxTokenIsNotSentToAProductionEndpoint() async throws {
        try await run(environment: "production") { setup, store, received in
            #expect(try await setup.relay.notify(try body(store, Self.token)).status == 200)
            let listed = try await setup.relay.ops("/ops/notifications").json["items"][0]
            #expect(listed["type"].string == "EXTERNAL_PURCHASE_TOKEN")
            #expect(listed["bundleId"].string == "com.example.app")
            #expect(listed["environment"].string == "Sandbox")
            let id = try #require(listed["id"].string)
            let shown = try await setup.relay.ops("/ops/notifications/\(id)").json
            #expect(shown["payload"]["externalPurchaseToken"]["externalPurchaseId"].string == "SANDBOX_b2158121")
            try await Task.sleep(for: .seconds(2))
            #expect(received().isEmpty)
        }
        try await run(environment: "sandbox") { setup, store, received in
            #expect(try await setup.relay.notify(try body(store, Self.token)).status == 200)
            let message = try await Awaiting.fact(
                "a message has arrived", of: { received().first }, holds: { $0 != nil })
            #expect(message?.json["notification"]["subtype"].string == "UNREPORTED")
            #expect(message?.json["notification"]["externalPurchaseToken"]["appAppleId"].int == 55_555)
        }
    }
}
