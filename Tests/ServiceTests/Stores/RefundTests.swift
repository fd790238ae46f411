import Foundation
import ReceiverSupport
import Testing

/// Tests of the time from a refund at the store to the app and the endpoint.
@Suite struct RefundTests {
    /// The promise is two seconds. The measured time is only printed, since the machine may be busy. No sweep or
    /// recheck runs in this time.
    @Test(arguments: StoreCase.allCases) func aRefundReachesTheAppAndTheEndpoint(_ store: StoreCase) async throws {
        try await withReceiver { port, received in
            let settings = [
                "RELAY_WEBHOOK_URLS": "http://127.0.0.1:\(port)/hook", "RELAY_WEBHOOK_ALLOW_NETWORKS": "127.0.0.0/8",
                "RELAY_VOIDED_SWEEP_SECONDS": "3600",
            ]
            try await store.run(settings) { scene in
                try await scene.simulator.has("one", "{}")
                let id = try await scene.post("one", by: "ana@example.test", to: nil)
                _ = try await scene.setup.relay.becomes("granted", id)
                try await scene.settled()
                let told = try await Received.messages(1, of: "ana@example.test", received).count
                let began = ContinuousClock.now
                try await scene.simulator.act("refund", "one")
                _ = try await scene.setup.relay.becomes("revoked", id)
                let revoked = ContinuousClock.now - began
                // Messages about the grant may still arrive before the one about its end.
                try await Awaiting.fact("the endpoint received that it is over") {
                    try await Received.messages(told, of: "ana@example.test", received)[told...].flatMap {
                        $0.json["purchases"].keys.map { [purchases = $0.json["purchases"]] in purchases[$0] }
                    }
                } holds: { purchases in
                    purchases.contains { $0["isExpired"].bool == true }
                }
                let heard = ContinuousClock.now - began
                #expect(max(revoked, heard) < .seconds(20))
                // The relay may have asked a store that states no refund before its notification came: over, for a moment.
                try await Awaiting.fact("the endpoint's last message says why", is: "REFUNDED") {
                    try await Received.messages(told, of: "ana@example.test", received).last?
                        .json["notification"]["reason"].string
                }
                Measured.note("from a refund at \(store.rawValue) to `revoked`", revoked)
                Measured.note("from a refund at \(store.rawValue) to the endpoint", heard)
            }
        }
    }
}
