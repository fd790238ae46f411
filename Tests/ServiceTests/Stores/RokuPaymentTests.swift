import Foundation
import NIOHTTP1
import TestRun
import Testing

/// Tests of `POST /roku/payment` of the whole service.
@Suite struct RokuPaymentTests {
    @Test func aPurchaseIsGrantedAndForwardedUnchanged() async throws {
        try await RokuScene.run { scene in
            let id = try await scene.buy("o1")
            let detail = try await scene.setup.relay.detail(id)
            #expect(detail["originalTransactionId"].string == "roku:o1" && detail["appType"].string == "roku")
            #expect(detail["verification"]["result"].string == "genuine", "\(detail)")
            let sent: [JSON] = try await scene.setup.simulator.requests(path: "/roku/payment")
            let order = try #require(sent.first)["body"]["order"]
            #expect(order["purchaseId"].string == "o1" && order["code"].string == "gold")
            #expect(order["amount"].string == "$9.99" && order["total"].number == 10.5 && order["qty"].int == 1)
        }
    }

    /// An app may post a renewal's transaction.
    @Test func aRenewalIsOfTheSameSubscription() async throws {
        try await RokuScene.run { scene in
            let first = try await scene.buy("o1")
            try await scene.roku.control(.POST, "subscriptions/o1/renew", #"{"transactionId":"r1"}"#)
            let again = try await scene.post("r1")
            _ = try await scene.setup.relay.becomes("granted", again)
            #expect(try await scene.setup.relay.detail(again)["originalTransactionId"].string == "roku:o1")
            let other = try await scene.post("r1", by: "ben@example.test")
            _ = try await scene.setup.relay.becomes("granted", other)
            #expect(try await scene.setup.relay.status(first)["status"].string == "transferred")
        }
    }

    @Test func whileRokuCannotBeAskedTheAppsTransactionIsTheKey() async throws {
        try await RokuScene.run { scene in
            try await scene.roku.has("o1")
            try await scene.roku.control(.POST, "subscriptions/o1/renew", #"{"transactionId":"r1"}"#)
            try await scene.roku.trouble(#"{"on":"transactions","status":503}"#)
            let id = try await scene.post("r1")
            _ = try await scene.setup.relay.becomes("granted", id)
            let detail = try await scene.setup.relay.detail(id)
            #expect(detail["originalTransactionId"].string == "roku:r1")
            #expect(detail["verification"]["result"].string == "not_checked")
        }
    }

    @Test(.whole) func whatRokuDoesNotKnowIsRefusedWhereItIsEnforced() async throws {
        try await RokuScene.run(["RELAY_APPLE_VERIFICATION": "enforce"]) { scene in
            let answer = try await scene.answer(toOrder: ["purchaseId": "made-up", "code": "gold"])
            #expect(answer.status == 422 && answer.json["code"].string == "receipt_not_genuine", "\(answer.text)")
        }
    }

    @Test(.whole) func everyWrongFieldIsNamed() async throws {
        try await Setup.run { setup in
            func post(_ order: String) async throws -> HTTP.Answer {
                try await HTTP.post(
                    setup.relay.url + "/roku/payment",
                    headers: ["Authorization": "Bearer \(setup.relay.keys.app)", "Content-Type": "application/json"],
                    body: Data(#"{"customerEmail":"ana@example.test","offerId":"S1_US"\#(order)}"#.utf8))
            }
            for (order, fields) in [
                ("", ["order.purchaseId", "order.code"]), (#","order":[]"#, ["order"]),
                (
                    #","order":{"purchaseId":"","code":1,"amount":[],"qty":{},"total":true}"#,
                    ["order.purchaseId", "order.code", "order.amount", "order.qty", "order.total"]
                ),
            ] {
                let answer = try await post(order)
                #expect(answer.status == 422)
                #expect(answer.json["errors"].array?.compactMap { $0["field"].string } == fields, "\(answer.text)")
            }
        }
    }

    @Test(.whole) func aBillingSystemChecksIt() async throws {
        try await RokuScene.run { scene in
            try await scene.roku.has("o1", #"{"productId":"gold"}"#)
            let key = try await Relay.makeKey("publisher", scene.setup.database)
            func check(_ id: String) async throws -> HTTP.Answer {
                try await HTTP.post(
                    scene.setup.relay.url + "/api/v1/ExternalSubscriptions/check",
                    headers: ["Authorization": "Bearer \(key)", "Content-Type": "application/json"],
                    body: Data(#"{"Type":"RokuPay","RokuPayTransactionId":"\#(id)"}"#.utf8))
            }
            let answer = try await check("o1")
            #expect(answer.status == 200, "\(answer.text)")
            #expect(answer.json["Subscriptions"].array?.count == 1)
            #expect(try await check("o2").status == 422)
        }
    }
}
