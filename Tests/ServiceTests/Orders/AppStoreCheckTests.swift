import AppStoreSimulation
import Foundation
import Testing

/// A transaction that only the App Store knows, with `app-store-simulator serve` in its place.
@Suite struct AppStoreCheckTests {
    private func run(
        _ settings: [String: String] = [:], _ body: (BillingScene, AppStoreAPI) async throws -> Void
    ) async throws {
        let store = try TestAppStore()
        defer { store.end() }
        let api = try await AppStoreAPI.start(signing: store)
        try await api.during {
            try await Setup.run(
                settings: store.settings(relayingTo: nil, api.settings(api.key).merging(settings) { $1 })
            ) { setup in
                var scene = PublisherScene(
                    setup: setup, store: store, life: try store.subscription(),
                    key: try await Relay.makeKey("publisher", setup.database))
                scene.life.bought(at: Date())
                var billing = BillingScene(scene: scene, token: "")
                billing.token = try await billing.grant(key: scene.key)
                try await body(billing, api)
            }
        }
    }

    @Test func aTransactionIsFoundAtTheAppStoreOrNotOrLater() async throws {
        try await run { billing, api in
            let scene = billing.scene
            let id = scene.life.originalTransactionId
            let body = #"{"Type":"AppleIap","AppleIapTransactionId":"\#(id)"}"#
            let unknown = try await billing.post("/ExternalSubscriptions/check", body)
            #expect(unknown.status == 404, "\(unknown.text)")
            try await api.tell(scene.life, expiresAt: Date().addingTimeInterval(3_600))
            let found = try await billing.post("/ExternalSubscriptions/check", body)
            #expect(found.status == 200, "\(found.text)")
            let external = try #require(found.json["Subscriptions"][0]["Id"].string)
            // The receipt of the same subscription leads to the same id.
            #expect(try await billing.externalID() == external)
            let order = try await billing.post(
                "/Orders", #"{"ExternalSubscriptionId":"\#(external)","Customer":{}}"#)
            let contract = try await billing.post("/Orders/\(order.json["Id"].string ?? "")/commit")
            #expect(contract.json["LifecycleStatus"].string == "Active", "\(contract.text)")
            #expect(try await scene.relay.subscription(scene.life)["status"].string == "active")
            let foreign = try await billing.post(
                "/ExternalSubscriptions/check",
                #"{"Type":"AppleIap","AppleIapTransactionId":"1","AppleIapBundleId":"com.other"}"#)
            #expect(foreign.status == 422)
            try await api.trouble(#"{"status":500}"#)
            let later = try await billing.post(
                "/ExternalSubscriptions/check", #"{"Type":"AppleIap","AppleIapTransactionId":"4711"}"#)
            #expect(later.status == 503 && later.header("Retry-After").flatMap { Int($0) } ?? 0 > 0)
            #expect(later.json["Message"].string != nil)
        }
    }

    /// A store that is away says nothing, and Cleeng knows nothing about a contract.
    @Test func anOutageOfTheAppStoreEndsNoContract() async throws {
        try await run(["RELAY_APPLE_RENEWAL_LEEWAY_SECONDS": "1"]) { billing, api in
            let scene = billing.scene
            try await api.tell(scene.life, expiresAt: Date().addingTimeInterval(2))
            let checked = try await billing.post(
                "/ExternalSubscriptions/check",
                #"{"Type":"AppleIap","AppleIapTransactionId":"\#(scene.life.originalTransactionId)"}"#)
            let external = try #require(checked.json["Subscriptions"][0]["Id"].string, "\(checked.text)")
            let order = try await billing.post(
                "/Orders", #"{"ExternalSubscriptionId":"\#(external)","Customer":{}}"#)
            let contract = try await billing.post("/Orders/\(order.json["Id"].string ?? "")/commit")
            let id = try #require(contract.json["Id"].string, "\(contract.text)")
            try await api.trouble(#"{"status":500}"#)
            let trouble = try await Awaiting.fact("the App Store was asked about its end") {
                try await scene.relay.subscription(scene.life)["trouble"].string
            } holds: {
                $0 != nil
            }
            #expect(trouble == "the store cannot be asked now")
            #expect(try await billing.get("/Contracts/\(id)").json["LifecycleStatus"].string == "Active")
            #expect(try await scene.relay.subscription(scene.life)["nextLookAt"].string != nil)
        }
    }

    /// In the old receipt the subscription has ended. The receipt also has a purchase without end, which is listed too.
    @Test func aReceiptsPurchasesAreLookedUpAndPermanentOnesListed() async throws {
        try await run { billing, api in
            let scene = billing.scene
            let (life, then) = (scene.life, Date() - 7_200)
            func bought(_ product: String, _ id: String, until end: Date?) -> SimulatedReceipt.Purchase {
                SimulatedReceipt.Purchase(
                    productId: product, transactionId: id, originalTransactionId: id, purchaseDate: then,
                    originalPurchaseDate: then, expiresDate: end)
            }
            let receipt = SimulatedReceipt(
                environment: "ProductionSandbox", bundleId: "com.example.app", creationDate: then,
                purchases: [
                    bought(life.transaction.productId, life.originalTransactionId, until: then + 3_600),
                    bought("com.example.forever", TestPurchase.newTransactionID(), until: nil),
                ])
            let text = Data(try scene.store.receipts.sign(receipt)).base64EncodedString()
            func states() async throws -> [String] {
                let answer = try await billing.check(receipt: text)
                var states: [String] = []
                for one in answer.json["Subscriptions"].array ?? [] {
                    let order = try await billing.post(
                        "/Orders", #"{"ExternalSubscriptionId":"\#(one["Id"].string ?? "")","Customer":{}}"#)
                    let contract = try await billing.post("/Orders/\(order.json["Id"].string ?? "")/commit")
                    states.append(contract.json["LifecycleStatus"].string ?? contract.text)
                }
                return states
            }
            try await api.tell(life, expiresAt: Date().addingTimeInterval(3_600))
            #expect(try await states() == ["Active", "Active"])
            #expect(try await scene.relay.subscription(life)["status"].string == "active")
            // If the App Store does not answer, the receipt's statement is still accepted.
            try await api.trouble(#"{"status":500}"#)
            let again = try await billing.check(receipt: text)
            #expect(again.status == 200 && again.json["Subscriptions"].array?.count == 2, "\(again.text)")
        }
    }

    /// One key of the App Store Server API reads the transactions of all apps, so it does not prove who owns a
    /// subscription.
    @Test func anotherPublishersAppCannotBeChecked() async throws {
        try await run { billing, api in
            let scene = billing.scene
            let other = try await billing.grant(
                key: try await Relay.makeKey("publisher", scene.setup.database, publisher: "other"), publisher: "other")
            let app = scene.life.transaction.bundleId
            let id = scene.life.originalTransactionId
            try await api.tell(scene.life, expiresAt: Date().addingTimeInterval(3_600))
            let body = #"{"Type":"AppleIap","AppleIapTransactionId":"\#(id)","AppleIapBundleId":"\#(app)"}"#
            func check(_ token: String?) async throws -> [Int] {
                [
                    try await billing.post("/ExternalSubscriptions/check", body, token: token).status,
                    try await billing.check(receipt: try billing.receipt(), token: token).status,
                ]
            }
            // As long as no publisher has a key for the app, any publisher may check its subscriptions.
            #expect(try await check(other) == [200, 200])
            let external = try await billing.externalID(token: other)
            _ = try await Relay.makeKey("app", scene.setup.database, app: app)
            #expect(try await check(other) == [404, 422])
            #expect(try await check(nil) == [200, 200])
            // An id from an earlier check can no longer be ordered.
            let order = try await billing.post(
                "/Orders", #"{"ExternalSubscriptionId":"\#(external)","Customer":{}}"#, token: other)
            #expect(order.status == 404, "\(order.text)")
            let unknown = try await billing.post("/ExternalSubscriptions/check", body, token: other)
            let nowhere = try await billing.post(
                "/ExternalSubscriptions/check", #"{"Type":"AppleIap","AppleIapTransactionId":"4711"}"#, token: other
            )
            #expect(unknown.text == nowhere.text)
            // Both publishers now have a key for the app.
            _ = try await Relay.makeKey("app", scene.setup.database, app: app, publisher: "other")
            #expect(try await check(other) == [200, 200])
        }
    }
}
