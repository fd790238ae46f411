import AppStoreSimulation
import Foundation
import Hummingbird
import NIOConcurrencyHelpers
import NIOHTTP1
import ReceiverSupport
import Testing

/// The events of a publisher's billing endpoint, from the order to the delivery.
@Suite struct BillingDeliveryTests {
    private static let settings = [
        "RELAY_WEBHOOK_ALLOW_NETWORKS": "127.0.0.0/8", "RELAY_WEBHOOK_RETRY_SECONDS": "0.3,0.3,0.3",
        "RELAY_WEBHOOK_TIMEOUT_SECONDS": "2", "RELAY_WEBHOOK_PASSWORD": "a password",
        "RELAY_WEBHOOK_SECRETS": "whsec_\(Data("a secret of twenty-four b".utf8).base64EncodedString())",
    ]

    private static func json(_ received: Received) -> JSON { (try? JSON(data: Data(received.body.utf8))) ?? .null }

    /// The events so far, once there are that many messages.
    private static func told(
        _ count: Int, _ received: @escaping @Sendable () -> [Received]
    ) async throws -> [Received] {
        try await Awaiting.fact("\(count) messages", of: { received() }, holds: { $0.count >= count })
    }

    private static func events(_ told: some Sequence<Received>) -> [String] {
        told.compactMap { json($0)["Event"].string }.sorted()
    }

    @Test func eachEventIsSentToTheEndpointsThatAskForIt() async throws {
        try await withReceiver { port, received in
            try await BillingScene.run(settings: Self.settings) { billing in
                let all = try await billing.post("/webhooks", #"{"Url":"http://127.0.0.1:\#(port)/all"}"#)
                let some = try await billing.post(
                    "/webhooks", #"{"Url":"http://127.0.0.1:\#(port)/some","Events":["ContractCancelled"]}"#)
                #expect(all.status == 201 && some.status == 201)

                let order = try await billing.post(
                    "/Orders", #"{"ExternalSubscriptionId":"\#(try await billing.externalID())","Customer":{}}"#)
                let ids = (order.json["Id"].string ?? "", order.json["ContractId"].string ?? "")
                let customer = order.json["CustomerId"].string ?? ""
                #expect(try await billing.post("/Orders/\(ids.0)/commit").status == 200)
                var told = try await Self.told(2, received)
                #expect(Self.events(told) == ["ContractCreated", "OrderSucceeded"])
                #expect(
                    told.map(\.body).sorted() == [
                        #"{"Event":"ContractCreated","ContractId":"\#(ids.1)","CustomerId":"\#(customer)","EntityId":"\#(ids.1)"}"#,
                        #"{"Event":"OrderSucceeded","OrderId":"\#(ids.0)","ContractId":"\#(ids.1)","CustomerId":"\#(customer)","EntityId":"\#(ids.0)"}"#,
                    ])
                // Signed like other messages; there is no field for a password.
                #expect(told.allSatisfy { $0.headers["webhook-signature"]?.hasPrefix("v1,") == true })
                #expect(Set(told.compactMap { $0.headers["webhook-id"] }).count == 2)

                try await billing.scene.tell(billing.scene.life.renewalTurned(.off, at: Date()))
                told = try await Self.told(4, received)
                #expect(Self.events(told[2...]) == ["ContractCancelled", "ContractCancelled"])
                #expect(Set(told[2...].map(\.path)) == ["/all", "/some"])
                // The contract of an event can be read.
                let contract = try await billing.get("/Contracts/\(Self.json(told[3])["ContractId"].string ?? "")")
                #expect(contract.status == 200 && contract.json["EndDate"].string != nil)

                try await billing.scene.tell(billing.scene.life.renewalTurned(.on, at: Date()))
                told = try await Self.told(5, received)
                #expect(Self.events(told[4...]) == ["ContractChanged"])

                let gone = all.json["Id"].string ?? ""
                #expect(try await billing.call(.DELETE, "/webhooks/\(gone)").status == 200)
                try await billing.scene.tell(billing.scene.life.renewalTurned(.off, at: Date()))
                told = try await Self.told(6, received)
                #expect(told[5].path == "/some" && Self.events(told[5...]) == ["ContractCancelled"])
            }
        }
    }

    @Test func aFailedEventIsRepeatedUnchangedWithItsID() async throws {
        let failures = NIOLockedValueBox(2)
        try await withReceiver { _ in
            let fails = failures.withLockedValue { left in
                left -= 1
                return left >= 0
            }
            return Response(status: fails ? .badGateway : .accepted)
        } _: { port, received in
            try await BillingScene.run(settings: Self.settings) { billing in
                _ = try await billing.post(
                    "/webhooks", #"{"Url":"http://127.0.0.1:\#(port)/x","Events":["OrderSucceeded"]}"#)
                _ = try await billing.contract()
                let tries = try await Self.told(3, received)
                #expect(Set(tries.compactMap { $0.headers["webhook-id"] }).count == 1)
                #expect(Set(tries.map(\.body)).count == 1)
                let relay = billing.relay
                let item = try await Awaiting.fact("it is delivered") {
                    try await relay.ops("/ops/webhooks").json["items"][0]
                } holds: {
                    $0["state"].string == "delivered"
                }
                #expect(item["tries"].int == 3 && item["lastStatus"].int == 202)
                #expect(received().count == 3)
            }
        }
    }
}
