import Foundation
import NIOHTTP1
import TestRun
import Testing

/// Tests of purchases that Google refunded without a notification.
@Suite struct VoidedSweepTests {
    @Test(arguments: TestRun.all(["on-grant", "never"], otherwise: 1)) func aLostRefundIsFound(acknowledge: String)
        async throws
    {
        let settings = ["RELAY_VOIDED_SWEEP_SECONDS": "10", "RELAY_GOOGLE_ACKNOWLEDGE": acknowledge]
        try await GoogleScene.run(settings) { scene in
            // The questions after the notification and after the grant would find the refund, so they must be over
            // first.
            try await scene.google.has("token-1")
            try await Awaiting.fact("Google was asked about it", is: "active") {
                try await scene.subscription("token-1")["status"].string
            }
            let id = try await scene.post("token-1")
            _ = try await scene.setup.relay.becomes("granted", id)
            try await Awaiting.fact("nothing is to be asked", is: 0) { try await scene.waiting() }
            try await scene.google.control(.PUT, "delivery", #"{"lose":2}"#)
            try await scene.google.act("refund", "token-1")
            #expect(try await scene.google.control(.GET, "delivery").json["lose"].int == 0)
            _ = try await scene.setup.relay.becomes("revoked", id)
            let found = try await scene.notifications(of: "token-1").filter { $0["type"].string == "VOIDED_PURCHASE" }
            #expect(found.count == 1 && found[0]["store"].string == "google")
            // The next sweep lists it again, and it is recorded once.
            let swept = try await scene.metric(#"relay_voided_sweeps_total{result="done"}"#)
            try await Awaiting.fact("it was swept once more") {
                try await scene.metric(#"relay_voided_sweeps_total{result="done"}"#)
            } holds: {
                $0 > swept
            }
            #expect(try await scene.metric(#"relay_voided_purchases_total{result="stored"}"#) == 1)
        }
    }

    @Test func aPurchaseThatNoAppPostedIsNotStored() async throws {
        try await GoogleScene.run(["RELAY_VOIDED_SWEEP_SECONDS": "10"]) { scene in
            try await scene.google.control(.DELETE, "push")
            try await scene.google.has("nobodys")
            try await scene.google.act("refund", "nobodys")
            try await scene.buy("token-1")
            try await Awaiting.fact("it was swept") {
                try await scene.metric(#"relay_voided_sweeps_total{result="done"}"#)
            } holds: {
                $0 > 0
            }
            #expect(try await scene.notifications().isEmpty)
        }
    }
}
