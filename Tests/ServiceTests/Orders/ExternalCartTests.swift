import Foundation
import Testing

/// Orders that name a subscription at another store by its receipt data, without an earlier check.
@Suite struct ExternalCartTests {
    private struct Cart: Sendable {
        var json: String
        var product: String
    }

    private static let google = Cart(
        json: #"""
            {"Type":"GoogleIap","GoogleIapPackageName":"com.example.app","GoogleIapSubscriptionId":"gold",
             "GoogleIapToken":"token-1"}
            """#, product: "google:gold")
    private static let amazon = Cart(
        json: #"{"Type":"AmazonIap","AmazonIapReceiptId":"receipt-1","AmazonIapUserId":"user-1"}"#,
        product: "amazon:gold")

    private static func run(_ body: (OtherStores, BillingScene) async throws -> Void) async throws {
        try await OtherStores.run { stores in
            try await BillingScene.run(settings: stores.settings) { try await body(stores, $0) }
        }
    }

    @Test func aCartKnownToItsStoreBecomesAContract() async throws {
        try await Self.run { stores, billing in
            try await stores.google.has("token-1", #"{"productId":"gold","phase":"freeTrial"}"#)
            try await stores.amazon.has("receipt-1", #"{"productId":"gold"}"#)
            for cart in [Self.google, Self.amazon] {
                let body = #"{"ExternalCart":\#(cart.json),"Customer":{"FirstName":"Ana"}}"#
                let order = try await billing.post("/Orders", body)
                #expect(order.status == 201 && order.json["Status"].string == "InProgress", "\(order.text)")
                let contractID = try #require(order.json["ContractId"].string)
                #expect(try await billing.get("/Contracts/\(contractID)").status == 404)
                let orderID = try #require(order.json["Id"].string)
                let committed = try await billing.post("/Orders/\(orderID)/commit")
                #expect(committed.status == 200, "\(committed.text)")
                let contract = try await billing.get("/Contracts/\(contractID)")
                #expect(contract.text == committed.text)
                #expect(contract.json["CustomerId"].string == order.json["CustomerId"].string)
                #expect(contract.json["CurrentPhase"]["PlanVariantId"].string == cart.product)
                let isTrial = cart.product == Self.google.product
                #expect(contract.json["LifecycleStatus"].string == (isTrial ? "InTrial" : "Active"))
                #expect(contract.json["NextBillingDate"].string != nil)
                #expect(contract.json["ExternalSubscriptionIds"].array?.count == 1)
                #expect(try await billing.get("/Orders/\(orderID)").json["Status"].string == "Completed")
                // A check returns the same contract, so there is no second one.
                let checked = try await billing.post("/ExternalSubscriptions/check", cart.json)
                #expect(checked.json["Subscriptions"][0]["Contract"]["Id"].string == contractID, "\(checked.text)")
                #expect(
                    checked.json["Subscriptions"][0]["Id"].string
                        == contract.json["ExternalSubscriptionIds"][0].string)
                #expect(try await billing.post("/Orders", body).status == 409)
            }
            #expect(try await billing.get("/Contracts").json.array?.count == 2)
        }
    }

    @Test func aCartThatItsStoreDoesNotConfirmMakesNoOrder() async throws {
        try await Self.run { stores, billing in
            for cart in [Self.google, Self.amazon] {
                let order = try await billing.post("/Orders", #"{"ExternalCart":\#(cart.json),"Customer":{}}"#)
                #expect(order.status == 422 && order.json["Message"].string != nil, "\(order.text)")
            }
            try await stores.google.trouble(#"{"status":500}"#)
            let later = try await billing.post("/Orders", #"{"ExternalCart":\#(Self.google.json),"Customer":{}}"#)
            #expect(later.status == 503 && later.header("Retry-After") != nil)
            for list in ["/Customers", "/Orders", "/Contracts"] {
                #expect(try await billing.get(list).text == "[]", "\(list)")
            }
        }
    }
}
