import AppStoreSimulation
import Foundation
import Testing

/// A transaction that only the App Store knows, with `app-store-simulator serve` in its place.
@Suite struct AppStoreCheckTests {
    @Test func aTransactionIsFoundAtTheAppStoreOrNotOrLater() async throws {
        let store = try TestAppStore()
        defer { store.end() }
        let api = try await AppStoreAPI.start(signing: store)
        do {
            try await Setup.run(settings: store.settings(relayingTo: nil, api.settings(api.key))) { setup in
                var scene = PublisherScene(
                    setup: setup, store: store, life: try store.subscription(),
                    key: try await Relay.makeKey("publisher", setup.database))
                scene.life.bought(at: Date())
                var billing = BillingScene(scene: scene, token: "")
                billing.token = try await billing.grant(key: scene.key)
                let id = scene.life.originalTransactionId
                let body = #"{"Type":"AppleIap","AppleIapTransactionId":"\#(id)"}"#
                let unknown = try await billing.post("/ExternalSubscriptions/check", body)
                #expect(unknown.status == 404, "\(unknown.text)")
                try await api.tell(scene.life, expiresAt: Date().addingTimeInterval(3_600))
                let found = try await billing.post("/ExternalSubscriptions/check", body)
                #expect(found.status == 200, "\(found.text)")
                let external = try #require(found.json["Subscriptions"][0]["Id"].string)
                // The receipt of the same subscription names the same.
                #expect(try await billing.externalID() == external)
                let order = try await billing.post(
                    "/Orders", #"{"ExternalSubscriptionId":"\#(external)","Customer":{}}"#)
                let contract = try await billing.post("/Orders/\(order.json["Id"].string ?? "")/commit")
                #expect(contract.json["LifecycleStatus"].string == "Active", "\(contract.text)")
                #expect(try await setup.relay.subscription(scene.life)["status"].string == "active")
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
        } catch {
            await api.end()
            throw error
        }
        await api.end()
    }
}
