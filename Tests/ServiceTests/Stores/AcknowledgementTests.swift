import Foundation
import NIOHTTP1
import Postgres
import TestRun
import Testing

/// Tests of purchases that Google refunds unless they are acknowledged within three days.
@Suite struct AcknowledgementTests {
    @Test func aGrantIsAcknowledgedOnceAndNothingBeforeIt() async throws {
        try await GoogleScene.run { scene in
            // No app has posted the purchase, but Google has sent a notification of it.
            try await scene.google.has("token-1", #"{"isAcknowledged":false}"#)
            try await Awaiting.fact("Google was asked about it", is: "active") {
                try await scene.subscription("token-1")["status"].string
            }
            #expect(try await scene.acknowledgements("token-1") == 0)
            let id = try await scene.post("token-1")
            _ = try await scene.setup.relay.becomes("granted", id)
            try await Awaiting.fact("it was acknowledged", is: 1) { try await scene.acknowledgements("token-1") }
            try await Awaiting.fact("the timeline has it") {
                try await scene.subscription("token-1")["timeline"].array?.compactMap { $0["event"].string } ?? []
            } holds: {
                $0.contains("acknowledged")
            }
            try await scene.google.act("renew", "token-1")
            try await Awaiting.fact("nothing is to be asked", is: 0) { try await scene.waiting() }
            #expect(try await scene.acknowledgements("token-1") == 1)
        }
    }

    /// One purchase is granted late, and one never. Google sends notifications of both in the meantime.
    @Test func whatIsNotGrantedIsNotAcknowledged() async throws {
        try await GoogleScene.run { scene in
            let customers = ["late": "ana+after-4s@example.test", "never": "ben+reject@example.test"]
            var ids: [String: String] = [:]
            for (token, customer) in customers {
                try await scene.google.has(token, #"{"isAcknowledged":false}"#)
                ids[token] = try await scene.post(token, by: customer)
            }
            for token in customers.keys { try await scene.google.act("renew", token) }
            try await scene.settled()
            let late = try #require(ids["late"])
            #expect(try await scene.setup.relay.poll(late).json["status"].string == "pending")
            for token in customers.keys { #expect(try await scene.acknowledgements(token) == 0) }
            _ = try await scene.setup.relay.becomes("rejected", try #require(ids["never"]))
            _ = try await scene.setup.relay.becomes("granted", late)
            try await Awaiting.fact("the one that is granted is acknowledged", is: 1) {
                try await scene.acknowledgements("late")
            }
            try await scene.settled()
            #expect(try await scene.acknowledgements("never") == 0)
        }
    }

    @Test func aChangedPlanIsAcknowledgedThoughNoAppPostsItsToken() async throws {
        try await GoogleScene.run { scene in
            let id = try await scene.buy("token-1")
            try await scene.google.has(
                "token-2", #"{"productId":"gold-yearly","linkedPurchaseToken":"token-1","isAcknowledged":false}"#)
            try await Awaiting.fact("it was acknowledged", is: 1) { try await scene.acknowledgements("token-2") }
            try await scene.google.control(.POST, "subscriptions/token-1/expire", #"{"by":"replacement"}"#)
            try await Awaiting.fact("nothing is to be asked", is: 0) { try await scene.waiting() }
            let poll = try await scene.setup.relay.becomes("granted", id)
            #expect(poll["accessGranted"].bool == true)
            // A second change. Google names the first token in each later answer about the second one too.
            try await scene.google.has(
                "token-3", #"{"productId":"gold","linkedPurchaseToken":"token-2","isAcknowledged":false}"#)
            try await Awaiting.fact("it was acknowledged too", is: 1) { try await scene.acknowledgements("token-3") }
            try await scene.google.control(.POST, "subscriptions/token-2/expire", #"{"by":"replacement"}"#)
            try await Awaiting.fact("nothing is to be asked again", is: 0) { try await scene.waiting() }
            #expect(try await scene.setup.relay.poll(id).json["status"].string == "granted")
        }
    }

    /// The plan changes twice, and the notification of the first change is lost. Google's answer about the newest token
    /// names only the one before it.
    @Test func aPlanThatChangedTwiceStaysItsCustomersThoughOneChangeWasNeverTold() async throws {
        try await GoogleScene.run { scene in
            let id = try await scene.buy("token-1")
            try await scene.settled()
            try await scene.google.control(.DELETE, "push")
            try await scene.google.has(
                "token-2", #"{"productId":"gold-yearly","linkedPurchaseToken":"token-1","isAcknowledged":false}"#)
            try await scene.google.control(.POST, "subscriptions/token-1/expire", #"{"by":"replacement"}"#)
            try await scene.push(to: scene.setup.relay)
            try await scene.google.has(
                "token-3", #"{"productId":"gold","linkedPurchaseToken":"token-2","isAcknowledged":false}"#)
            try await Awaiting.fact("the newest is acknowledged", is: 1) { try await scene.acknowledgements("token-3") }
            #expect(try await scene.subscription("token-3")["customerEmail"].string == "ana@example.test")
            // Of the first token Google says by now that it is over.
            try await scene.google.control(
                .POST, "notifications",
                #"{"notification":{"packageName":"com.example.app","subscriptionNotification":{"version":"1.0","notificationType":13,"purchaseToken":"token-1"}}}"#
            )
            try await Awaiting.fact("it is kept", is: 1) {
                try await scene.notifications(of: "token-1").filter { $0["type"].string == "SUBSCRIPTION_EXPIRED" }
                    .count
            }
            try await scene.settled()
            #expect(try await scene.setup.relay.poll(id).json["status"].string == "granted")
            try await scene.google.act("expire", "token-3")
            #expect(try await scene.setup.relay.becomes("revoked", id)["reason"].string == "expired")
        }
    }

    /// Retention removes validations, and a purchase that was posted while Google was away stays in `unknown`.
    @Test(arguments: [false, true])
    func aChangedPlanIsAcknowledgedWhateverIsKeptOfTheOldOne(isUnknown: Bool) async throws {
        try await GoogleScene.run { scene in
            if isUnknown { try await scene.google.trouble(#"{"on":"purchases","status":503}"#) }
            let id = try await scene.buy("token-1")
            if isUnknown {
                try await scene.google.trouble(nil)
                #expect(try await scene.subscription("token-1")["environment"].string == "unknown")
            } else {
                try await scene.settled()
                _ = try await scene.setup.database.query("DELETE FROM validations")
            }
            try await scene.google.has(
                "token-2", #"{"productId":"gold-yearly","linkedPurchaseToken":"token-1","isAcknowledged":false}"#)
            try await Awaiting.fact("it was acknowledged", is: 1) { try await scene.acknowledgements("token-2") }
            try await scene.google.control(.POST, "subscriptions/token-1/expire", #"{"by":"replacement"}"#)
            try await scene.settled()
            if isUnknown { #expect(try await scene.setup.relay.poll(id).json["status"].string == "granted") }
        }
    }

    /// An app consumes a pass after its grant.
    @Test func theRefundOfAConsumedPassEndsItsAccess() async throws {
        try await GoogleScene.run { scene in
            try await scene.google.control(
                .PUT, "products/pass-1", #"{"productId":"pass","orderId":"GPA.7","isAcknowledged":true}"#)
            let id = try await scene.post("pass-1", product: "pass")
            _ = try await scene.setup.relay.becomes("granted", id)
            try await scene.settled()
            try await scene.google.control(
                .PUT, "products/pass-1",
                #"{"productId":"pass","orderId":"GPA.7","isAcknowledged":true,"isConsumed":true}"#)
            try await scene.google.control(.POST, "products/pass-1/refund", "{}")
            #expect(try await scene.setup.relay.becomes("revoked", id)["reason"].string == "refunded")
        }
    }

    @Test func whatWasBoughtOnceIsAcknowledgedToo() async throws {
        try await GoogleScene.run { scene in
            try await scene.google.control(.PUT, "products/film-1", #"{"productId":"film","isAcknowledged":false}"#)
            let id = try await scene.post("film-1", product: "film")
            _ = try await scene.setup.relay.becomes("granted", id)
            try await Awaiting.fact("it was acknowledged", is: 1) {
                try await scene.acknowledgements("film-1", of: "products")
            }
            try await scene.google.control(.POST, "products/film-1/refund", "{}")
            let revoked = try await scene.setup.relay.becomes("revoked", id)
            #expect(revoked["reason"].string == "refunded")
        }
    }

    @Test(.whole) func acknowledgementCanBeLeftToTheApp() async throws {
        try await GoogleScene.run(["RELAY_GOOGLE_ACKNOWLEDGE": "never"]) { scene in
            try await scene.buy("token-1", #"{"isAcknowledged":false}"#)
            try await Awaiting.fact("Google was asked", is: 0) { try await scene.waiting() }
            #expect(try await scene.acknowledgements("token-1") == 0)
        }
    }

    @Test(.whole) func anotherCopyAcknowledgesAfterACrash() async throws {
        try await GoogleScene.run { scene in
            try await scene.google.trouble(#"{"on":"acknowledge","status":503}"#)
            try await scene.buy("token-1", #"{"isAcknowledged":false}"#)
            let pid = scene.setup.relay.process
            pid.signal(SIGKILL)
            try await scene.google.trouble(nil)
            #expect(try await scene.acknowledgements("token-1") == 0)
            let next = try await Relay.start(
                database: scene.setup.database, simulator: scene.setup.simulator, keys: scene.setup.relay.keys,
                settings: scene.settings)
            try await next.during {
                try await Awaiting.fact("it was acknowledged", is: 1) { try await scene.acknowledgements("token-1") }
                try await Awaiting.fact("nothing is to be asked", is: 0) { try await scene.waiting() }
                #expect(try await scene.acknowledgements("token-1") == 1)
            }
        }
    }
}
