import AppStoreSimulation
import Foundation
import TestRun
import Testing

/// Tests of all steps from a receipt to a contract, and of the events about it.
@Suite struct OrderFlowTests {
    @Test func aReceiptIsCheckedOrderedCommittedAndCheckedAgain() async throws {
        try await BillingScene.run { billing in
            let hook = try await billing.post(
                "/webhooks", #"{"Url":"https://hooks.example.test/x","Events":["OrderSucceeded","contractcreated"]}"#)
            #expect(
                hook.status == 201 && hook.json["Events"].array?.map(\.string) == ["OrderSucceeded", "ContractCreated"])

            let receipt = try billing.receipt()
            let checked = try await billing.check(receipt: receipt)
            let id = try #require(checked.json["Subscriptions"][0]["Id"].string, "\(checked.text)")
            #expect(checked.text == #"{"Subscriptions":[{"Id":"\#(id)"}]}"#)
            #expect(id.wholeMatch(of: /[0-9a-f]{24}/) != nil)
            for list in ["/Customers", "/Orders", "/Contracts"] {
                #expect(try await billing.get(list).text == "[]", "\(list)")
            }

            let order = try await billing.post(
                "/Orders",
                #"{"ExternalSubscriptionId":"\#(id)","Customer":{"FirstName":"Marcellus","LastName":"Wallace"}}"#)
            #expect(order.status == 201)
            for name in ["Id", "CustomerId", "ContractId"] {
                #expect(order.json[name].string?.wholeMatch(of: /[0-9a-f]{24}/) != nil, "\(name)")
            }
            #expect(order.json["Status"].string == "InProgress" && order.json["OrderType"].string == "Signup")
            #expect(order.json["ComponentSubscriptions"].array?.isEmpty == true)
            let (orderID, contractID) = (order.json["Id"].string ?? "", order.json["ContractId"].string ?? "")
            #expect(try await billing.get("/Contracts/\(contractID)").status == 404)
            // An order alone makes no contract.
            #expect(try await billing.check(receipt: receipt).text == checked.text)

            let contract = try await billing.post("/Orders/\(orderID)/commit", "{}")
            #expect(contract.status == 200 && contract.json["Id"].string == contractID)
            #expect(contract.json["CustomerId"].string == order.json["CustomerId"].string)
            #expect(contract.json["LifecycleStatus"].string == "Active")
            let product = "apple:\(billing.scene.life.transaction.productId)"
            #expect(contract.json["CurrentPhase"]["PlanVariantId"].string == product)
            #expect(contract.json["StartDate"].string?.wholeMatch(of: /20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}Z/) != nil)
            #expect(try await billing.post("/Orders/\(orderID)/commit").text == contract.text)
            #expect(try await billing.get("/Orders/\(orderID)").json["Status"].string == "Completed")
            #expect(try await billing.get("/Contracts/\(contractID)").json["Id"].string == contractID)

            let customerID = order.json["CustomerId"].string ?? ""
            let again = try await billing.check(receipt: receipt)
            #expect(
                again.text
                    == #"{"Subscriptions":[{"Id":"\#(id)","Contract":{"Id":"\#(contractID)","CustomerId":"\#(customerID)"}}]}"#
            )
            let customer = try await billing.get("/Customers/\(customerID)")
            #expect(customer.json["FirstName"].string == "Marcellus" && customer.json["LastName"].string == "Wallace")
            #expect(try await billing.get("/Customers/\(customerID)/Contracts").json[0]["Id"].string == contractID)
            #expect(
                try await billing.messages() == [
                    #"{"Event":"ContractCreated","ContractId":"\#(contractID)","CustomerId":"\#(customerID)","EntityId":"\#(contractID)"}"#,
                    #"{"Event":"OrderSucceeded","OrderId":"\#(orderID)","ContractId":"\#(contractID)","CustomerId":"\#(customerID)","EntityId":"\#(orderID)"}"#,
                ])
        }
    }

    @Test func theContractFollowsItsSubscriptionAndSendsEvents() async throws {
        try await BillingScene.run { billing in
            _ = try await billing.post("/webhooks", #"{"url":"https://hooks.example.test/x"}"#)
            let id = try #require(try await billing.contract()["Id"].string)
            func events() async throws -> [String] {
                try await billing.messages().compactMap { try JSON(data: Data($0.utf8))["Event"].string }
            }
            #expect(try await events() == ["ContractCreated", "OrderSucceeded"])
            try await billing.scene.tell(billing.scene.life.renewalTurned(.off, at: Date()))
            #expect(try await events() == ["ContractCancelled", "ContractCreated", "OrderSucceeded"])
            var contract = try await billing.get("/Contracts/\(id)").json
            #expect(contract["LifecycleStatus"].string == "Active" && contract["EndDate"].string != nil)
            #expect(contract["NextBillingDate"].string == nil)
            try await billing.scene.tell(billing.scene.life.renewalTurned(.on, at: Date()))
            contract = try await billing.get("/Contracts/\(id)").json
            #expect(contract["EndDate"].string == nil && contract["NextBillingDate"].string != nil)
            try await billing.scene.tell(billing.scene.life.renewed(at: Date()))
            // The renewal is refunded while the first period still runs; then that is refunded too.
            try await billing.scene.tell(billing.scene.life.refunded(at: Date()))
            contract = try await billing.get("/Contracts/\(id)").json
            #expect(contract["LifecycleStatus"].string == "Active")
            let first = billing.scene.life.originalTransactionId
            try await billing.scene.tell(billing.scene.life.refunded(at: Date(), transactionId: first))
            contract = try await billing.get("/Contracts/\(id)").json
            #expect(contract["LifecycleStatus"].string == "Ended" && contract["EndDate"].string != nil)
            let changes = try await events().filter { $0 == "ContractChanged" }
            #expect(changes.count == 4, "renewal on, renewed, twice refunded: \(changes)")
        }
    }

    @Test func aReceiptWithSeveralSubscriptionsNamesEach() async throws {
        try await BillingScene.run { billing in
            let now = Date()
            let ids = [TestPurchase.newTransactionID(), TestPurchase.newTransactionID()]
            let receipt = SimulatedReceipt(
                environment: "ProductionSandbox", bundleId: "com.example.app", creationDate: now,
                purchases: ids.enumerated().map { index, id in
                    SimulatedReceipt.Purchase(
                        productId: "com.example.p\(index)", transactionId: id, originalTransactionId: id,
                        purchaseDate: now, originalPurchaseDate: now,
                        // One of them has ended, but the receipt still contains it.
                        expiresDate: now.addingTimeInterval(index == 0 ? 86_400 : -86_400))
                })
            let text = Data(try billing.scene.store.receipts.sign(receipt)).base64EncodedString()
            let checked = try await billing.check(receipt: text)
            #expect(checked.status == 200 && checked.json["Subscriptions"].array?.count == 2)
            let first = try #require(checked.json["Subscriptions"][0]["Id"].string)
            let order = try await billing.post("/Orders", #"{"ExternalSubscriptionId":"\#(first)","Customer":{}}"#)
            _ = try await billing.post("/Orders/\(order.json["Id"].string ?? "")/commit")
            let again = try await billing.check(receipt: text).json["Subscriptions"]
            #expect(again[0]["Contract"]["Id"].string != nil && again[1]["Contract"]["Id"].string == nil)
            #expect(again[0]["Id"].string == first)
        }
    }

    /// Billing verifies receipts in every mode; the setting concerns only purchases for Cleeng.
    @Test(arguments: TestRun.all(["off", "observe", "enforce"], otherwise: 1))
    func aForgedReceiptIsRefusedInEveryMode(verification: String) async throws {
        let stranger = try TestAppStore(isStranger: true)
        defer { stranger.end() }
        try await BillingScene.run(settings: ["RELAY_APPLE_VERIFICATION": verification]) { billing in
            let forged = Data(try stranger.receipts.sign(billing.scene.life.receipt(at: Date()))).base64EncodedString()
            for receipt in [forged, "bm8gcmVjZWlwdA==", "%%%", "a.b.c"] {
                let answer = try await billing.check(receipt: receipt)
                #expect(answer.status == 422 && answer.json["Message"].string?.isEmpty == false, "\(answer.text)")
            }
            var other = try billing.receipt()
            #expect(try await billing.check(receipt: other).status == 200)
            // A signed transaction is accepted as well.
            other = try billing.scene.store.transactions.sign(
                json: billing.scene.life.transaction.json(signedDate: Date()))
            #expect(try await billing.check(receipt: other).json["Subscriptions"].array?.count == 1)
        }
    }

    @Test func ofCompetingOrdersTheFirstCommitWins() async throws {
        try await BillingScene.run { billing in
            let id = try await billing.externalID()
            let body = #"{"ExternalSubscriptionId":"\#(id)","Customer":{"LastName":"B"}}"#
            let orders = [try await billing.post("/Orders", body), try await billing.post("/Orders", body)]
                .compactMap { $0.json["Id"].string }
            #expect(Set(orders).count == 2)
            #expect(try await billing.post("/Orders/\(orders[1])/commit").status == 200)
            let lost = try await billing.post("/Orders/\(orders[0])/commit")
            #expect(lost.status == 409 && lost.json["Message"].string?.contains("one contract") == true)
            #expect(try await billing.post("/Orders", body).status == 409)
            #expect(try await billing.get("/Orders/\(orders[0])").json["Status"].string == "InProgress")
            #expect(try await billing.get("/Contracts").json.array?.count == 1)
            #expect(try await billing.get("/Orders?take=1").json.array?.count == 1)
            let rest = try await billing.get("/Orders?take=9999&skip=70&from=\(orders.first ?? "")")
            #expect(rest.json.array?.map { $0["Id"].string } == [orders.last])
        }
    }

    @Test func anUpgradeChangesTheContractThatItNames() async throws {
        try await BillingScene.run { billing in
            let contract = try await billing.contract()
            var second = try billing.scene.store.subscription()
            second.bought(at: Date())
            let order = try await billing.post(
                "/orders",
                #"{"externalsubscriptionid":"\#(try await billing.externalID(second))","CONTRACTID":"\#(contract["Id"].string ?? "")"}"#
            )
            #expect(order.status == 201 && order.json["OrderType"].string == "Upgrade", "\(order.text)")
            #expect(order.json["ContractId"].string == contract["Id"].string)
            let upgraded = try await billing.post("/orders/\(order.json["Id"].string ?? "")/commit")
            #expect(upgraded.json["Id"].string == contract["Id"].string)
            #expect(upgraded.json["ExternalSubscriptionIds"].array?.count == 2)
        }
    }

    @Test func aTransactionIsFoundInTheLedger() async throws {
        try await BillingScene.run { billing in
            _ = try await billing.contract()
            try await billing.scene.tell(billing.scene.life.renewed(at: Date()))
            let id = try await billing.externalID()
            for transaction in [
                billing.scene.life.originalTransactionId, billing.scene.life.transaction.transactionId,
            ] {
                let found = try await billing.post(
                    "/ExternalSubscriptions/Check", #"{"Type":"appleiap","AppleIapTransactionId":"\#(transaction)"}"#)
                #expect(found.json["Subscriptions"][0]["Id"].string == id, "\(found.text)")
            }
            let unknown = try await billing.post(
                "/ExternalSubscriptions/check", #"{"Type":"AppleIap","AppleIapTransactionId":"77"}"#)
            #expect(unknown.status == 404 && unknown.json["Message"].string != nil)
        }
    }
}
