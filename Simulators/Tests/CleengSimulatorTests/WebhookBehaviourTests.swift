import Testing

@testable import CleengSimulator
@testable import SimulatorKit

/// Trouble with events, and where they go.
@Suite struct WebhookBehaviourTests {
    @Test func aPaymentThatFailsIsToldOfWhenItsTimeIsOverAndNeverGranted() throws {
        let bench = try Bench.telling()
        bench.pay("ana+webhook-failed+after-3s@example.test")
        bench.pay("ben+never+webhook-failed@example.test")
        bench.pay("cia+never@example.test")
        bench.pay("dan+reject+webhook-failed@example.test")
        bench.time.advance(milliseconds: 1_000)
        #expect(bench.told() == ["inappPurchaseValidationFailed ben+never+webhook-failed@example.test"])
        bench.time.advance(milliseconds: 2_000)
        let events = bench.events()
        #expect(events.map(\.topic) == [.validationFailed])
        #expect(
            AnyJSON.parse(events[0].body)?["data"]
                == .object([
                    "paymentGateway": .string("apple"), "offerId": .string("S123456789_US"),
                    "offerType": .string("subscription"), "customerId": .int(100_000_001),
                ]))
        #expect(try bench.entitlements("ana+webhook-failed+after-3s@example.test") == [])
    }

    @Test func eventsCanComeTwiceLateAndNotAtAll() throws {
        let bench = try Bench.telling()
        bench.pay("ana+webhook-twice+webhook-late-2s@example.test", receipt: "sub-7-a")
        bench.pay("ben+webhook-lost@example.test", receipt: "sub-8-a")
        bench.time.advance(milliseconds: 1_000)
        #expect(bench.events().isEmpty)
        bench.time.advance(milliseconds: 2_000)
        let events = bench.events()
        #expect(
            events.map(\.topic) == [
                .validationSucceeded, .validationSucceeded, .subscriptionCreated, .subscriptionCreated,
            ])
        #expect(events[0].body == events[1].body)
        #expect(try bench.entitlements("ben+webhook-lost@example.test") == ["S123456789_US active"])
    }

    @Test(arguments: ["webhook", "webhook-late", "webhook-late-x", "webhook-twice-2", "webhook-503"])
    func anUnknownMannerIsTold(name: String) throws {
        let body = #"{"behaviours":["\#(name)"]}"#
        #expect(throws: ControlFault.self) { try Bench().control("PUT", "/_simulator/default", body) }
    }

    @Test func theMannerOfEventsIsNothingThatCanBefallEverybody() throws {
        let body = #"{"behaviours":["webhook-twice"]}"#
        #expect(throws: ControlFault.self) { try Bench().control("PUT", "/_simulator/upstream", body) }
    }

    @Test func withoutAnAddressNothingWaits() throws {
        let bench = Bench()
        bench.pay("ana+after-0@example.test")
        bench.pay("ana+after-0@example.test")
        try bench.control("PUT", "/_simulator/webhooks", Bench.webhooks)
        #expect(bench.told() == [])
        bench.pay("ben+after-0@example.test", "2")
        try bench.control("DELETE", "/_simulator/webhooks")
        #expect(bench.told() == [])
        #expect(try bench.control("GET", "/_simulator/webhooks")["url"] == nil)
    }

    @Test func anEventFromBeforeAResetGoesNowhereAndIsNotCounted() throws {
        let bench = try Bench.telling()
        bench.pay("ana+after-0@example.test")
        let event = try #require(bench.simulator.nextWebhook())
        #expect(bench.simulator.target(of: event) != nil)
        try bench.control("POST", "/_simulator/reset")
        try bench.control("PUT", "/_simulator/webhooks", Bench.webhooks)
        #expect(bench.simulator.target(of: event) == nil)
        bench.simulator.delivered(event, attempts: 1, status: 200)
        #expect(try bench.control("GET", "/_simulator/stats")["webhooksSent"] == .int(0))
        #expect(bench.told() == [])
    }

    @Test func theAddressOfTheStartSurvivesAReset() throws {
        let target = try WebhookTarget(url: "http://127.0.0.1:9/", secret: "sixteen-bytes-or-more", withEmail: true)
        let bench = Bench { $0.webhooks = target }
        try bench.control("DELETE", "/_simulator/webhooks")
        try bench.control("POST", "/_simulator/reset")
        bench.pay("ana+after-0@example.test")
        let emails = bench.events().map { AnyJSON.parse($0.body)?["data"]?["customerEmail"]?.string }
        #expect(emails == [nil, "ana+after-0@example.test"])
    }

    @Test func whatBecameOfEventsIsShownAndCounted() throws {
        let bench = try Bench.telling { $0.webhookCapacity = 2 }
        // Four events, and room for two.
        bench.pay("ana+after-0@example.test", "1")
        bench.pay("ben+after-0@example.test", "2")
        for (index, event) in bench.events().enumerated() {
            bench.simulator.delivered(event, attempts: index + 1, status: index == 0 ? 200 : nil)
        }
        let stats = try bench.control("GET", "/_simulator/stats")
        #expect(stats["webhooksSent"] == .int(1))
        #expect(stats["webhooksFailed"] == .int(3))
        let shown = try bench.control("GET", "/_simulator/webhooks")
        #expect(shown["secret"] == .string("present"))
        guard case .array(let deliveries) = shown["deliveries"] else {
            Issue.record("no deliveries")
            return
        }
        #expect(deliveries.map { $0["attempts"] } == [.int(0), .int(0), .int(1), .int(2)])
        #expect(deliveries[2]["status"] == .int(200))
        #expect(deliveries[2]["body"]?["topic"] == .string("inappPurchaseValidationSucceeded"))
    }

    @Test(arguments: [
        #"{"url":"http://127.0.0.1:9/"}"#, #"{"url":"http://127.0.0.1:9/","secret":"short"}"#,
        #"{"url":"ftp://127.0.0.1/","secret":"sixteen-bytes-or-more"}"#,
        #"{"url":"http:///x","secret":"sixteen-bytes-or-more"}"#,
        #"{"url":"http://127.0.0.1:9/","secret":"sixteen-bytes-or-more","signatureHeader":"a b"}"#,
        #"{"url":"http://127.0.0.1:9/","secret":"sixteen-bytes-or-more","signatureEncoding":"base32"}"#,
        #"{"url":"http://127.0.0.1:9/","secret":"sixteen-bytes-or-more","email":true}"#,
    ])
    func slipsAreToldAndChangeNothing(body: String) throws {
        let bench = Bench()
        #expect(throws: ControlFault.self) { try bench.control("PUT", "/_simulator/webhooks", body) }
        #expect(try bench.control("GET", "/_simulator/webhooks")["secret"] == .string("absent"))
    }

    /// RFC 4231 has no key of 16 to 1,024 bytes with a short text; these come from another implementation.
    @Test func theSignatureIsAnHMACOverTheBody() throws {
        func signature(_ encoding: WebhookTarget.Encoding) throws -> String {
            try WebhookTarget(
                url: "http://127.0.0.1:9/", secret: "a-shared-secret-of-the-tests", signatureEncoding: encoding
            ).signature(of: Array("{}".utf8))
        }
        #expect(try signature(.hex) == "6ee4d229d8749bfd087514096c2d9712d7ff43ae3f2e80fb2d6bca2655a34e30")
        #expect(try signature(.base64) == "buTSKdh0m/0IdRQJbC2XEtf/Q64/LoD7LWvKJlWjTjA=")
    }
}
