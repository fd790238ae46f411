import AppStoreSimulation
import Foundation
import Testing

/// An app posts the old transaction of a subscription that the App Store continues under another number.
@Suite struct MovedGrantTests {
    @Test func theGrantFollowsTheSubscriptionToItsPresentNumber() async throws {
        let store = try TestAppStore()
        defer { store.end() }
        try await Setup.run(settings: store.settings(relayingTo: nil)) { setup in
            let relay = setup.relay
            var life = try store.subscription()
            #expect(try await relay.notify(life.bought(at: Date()), signedBy: store).status == 200)
            let old = try store.purchase(life, email: "ana@example.test")
            // It has no customer yet when it moves.
            let number = TestPurchase.newTransactionID()
            let move = life.movedToBundle(newOriginalTransactionId: number, at: Date())
            #expect(try await relay.notify(move, signedBy: store).status == 200)
            let id = try await relay.pursue(old)
            _ = try await relay.becomes("granted", id)
            try await Awaiting.fact("the present number has the customer", is: "ana@example.test") {
                try await relay.ops("/ops/subscriptions?originalTransactionId=\(number)").json["items"][0][
                    "customerEmail"
                ]
                .string
            }
            #expect(try await relay.notify(life.refunded(at: Date()), signedBy: store).status == 200)
            let ended = try await relay.becomes("revoked", id)
            #expect(ended["reason"].string == "refunded" && ended["accessGranted"].bool == false)
        }
    }
}
