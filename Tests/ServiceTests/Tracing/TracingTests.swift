import AppStoreSimulation
import Foundation
import ReceiverSupport
import TestRun
import Testing

/// One trace from the app through the relay to Cleeng and the publisher's back end, with its spans at a collector.
@Suite struct TracingTests {
    private static let trace = "0af7651916cd43dd8448eb211c80319c"
    private static let caller = "b7ad6b7169203331"

    /// A span in the form that the collector received.
    private struct Span {
        let id: String
        let parent: String?
        let trace: String
        let name: String
        let attributes: String

        init(_ json: JSON) {
            id = json["spanId"].string ?? ""
            parent = json["parentSpanId"].string
            trace = json["traceId"].string ?? ""
            name = json["name"].string ?? ""
            attributes = json["attributes"].description
        }
    }

    private static func spans(_ received: [Received]) throws -> [Span] {
        try received.filter { $0.path == "/v1/traces" }.flatMap { one in
            let json = try JSON(data: Data(one.body.utf8))
            return (json["resourceSpans"][0]["scopeSpans"][0]["spans"].array ?? []).map(Span.init)
        }
    }

    @Test(.timeLimit(.paced(minutes: 4)))
    func oneTraceCoversAppCleengAndPublisher() async throws {
        try await withReceiver { port, received in
            let settings = [
                "RELAY_TRACING_OTLP_ENDPOINT": "http://127.0.0.1:\(port)/", "RELAY_TRACING_SAMPLE_RATIO": "0",
                "RELAY_WEBHOOK_URLS": "http://127.0.0.1:\(port)/hook?token=secret-of-a-url",
                "RELAY_WEBHOOK_ALLOW_NETWORKS": "127.0.0.0/8",
                "RELAY_WEBHOOK_SECRETS": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
            ]
            try await Setup.run(grantAfter: 0.5, settings: settings) { setup in
                let purchase = TestPurchase(email: "ana@example.test")
                let headers = [
                    "traceparent": "00-\(Self.trace)-\(Self.caller)-01", "tracestate": "vendor=1",
                ]
                let answer = try await setup.relay.purchase(purchase, headers: headers)
                let id = try #require(answer.json["validationId"].string)
                #expect(try await setup.relay.outcome(id)["status"].string == "granted")
                // A request without trace context is not recorded, and no trace starts by itself.
                _ = try await setup.relay.purchase(TestPurchase(email: "bob@example.test"))

                let control = SimulatorControl(setup.simulator)
                let payment = try #require(try await control.payments(of: "ana@example.test").first)
                #expect(payment.header("traceparent")?.hasPrefix("00-\(Self.trace)-") == true)
                #expect(payment.header("tracestate") == "vendor=1")
                let other = try await Awaiting.fact("the other is sent on") {
                    try await control.payments(of: "bob@example.test")
                } holds: {
                    !$0.isEmpty
                }
                #expect(other.first?.header("traceparent") == nil)

                try await Awaiting.fact("the publisher has the message") {
                    received().filter { $0.path == "/hook" }.map { $0.headers["traceparent"] ?? "" }
                } holds: {
                    $0.contains { $0.hasPrefix("00-\(Self.trace)-") }
                }
                let spans = try await Awaiting.fact("the spans are at the collector") {
                    try Self.spans(received())
                } holds: { spans in
                    ["POST /apple/payment", "pursue", "GET /3.1/entitlements", "deliver", "POST webhook"].allSatisfy {
                        name in
                        spans.contains { $0.name == name }
                    } && spans.filter { $0.name == "POST /apple/payment" }.count == 2
                }
                #expect(spans.allSatisfy { $0.trace == Self.trace }, "what nobody follows is not recorded")
                let server = try #require(spans.first { $0.parent == Self.caller })
                #expect(server.name == "POST /apple/payment" && server.attributes.contains(id))
                let pursued = try #require(spans.first { $0.name == "pursue" && $0.parent == server.id })
                let sent = try #require(spans.first { $0.name == "POST /apple/payment" && $0.parent == pursued.id })
                #expect(payment.header("traceparent")?.contains(sent.id) == true)
                // Spans contain no data of the customer and no secrets.
                for one in received() where one.path == "/v1/traces" {
                    for secret in ["ana@", "example.test", "secret-of-a-url", Simulator.token, purchase.receipt] {
                        #expect(!one.body.contains(secret), "\(secret)")
                    }
                }
                // The trace id finds the log lines, and the validation leads to the trace.
                let trace = "\"trace_id\":\"\(Self.trace)\""
                for message in ["request", "validation settled"] {
                    try await setup.relay.process.says(trace, "\"message\":\"\(message)\"")
                }
                #expect(try await setup.relay.ops("/ops/validations/\(id)").json["traceId"].string == Self.trace)
            }
        }
    }

    @Test func withoutACollectorTraceContextIsStillPropagated() async throws {
        try await Setup.run { setup in
            let header = "00-\(Self.trace)-\(Self.caller)-01"
            let answer = try await setup.relay.purchase(
                TestPurchase(email: "ana@example.test"), headers: ["traceparent": header])
            let id = try #require(answer.json["validationId"].string)
            _ = try await setup.relay.outcome(id)
            let control = SimulatorControl(setup.simulator)
            #expect(try await control.payments(of: "ana@example.test").first?.header("traceparent") == header)
            #expect(try await control.reads(of: "ana@example.test").allSatisfy { $0.header("traceparent") == header })
        }
    }

    @Test func applesNotificationIsForwardedInItsTrace() async throws {
        let store = try TestAppStore()
        defer { store.end() }
        try await withReceiver { port, received in
            let settings = store.settings(
                relayingTo: nil, ["RELAY_CLEENG_NOTIFICATION_URL": "http://127.0.0.1:\(port)/{publisherId}"])
            try await Setup.run(settings: settings) { setup in
                var life = try store.subscription()
                let body = try store.transactions.sign(life.bought(at: Date()))
                let header = "00-\(Self.trace)-\(Self.caller)-00"
                let headers = ["Content-Type": "application/json", "traceparent": header]
                #expect(try await setup.relay.notify(body, headers: headers).status == 200)
                try await Awaiting.fact("it is passed on", is: [header]) {
                    received().map { $0.headers["traceparent"] }
                }
            }
        }
    }

    @Test func anUnreachableCollectorHasNoEffect() async throws {
        try await Setup.run(settings: ["RELAY_TRACING_OTLP_ENDPOINT": "http://127.0.0.1:9"]) { setup in
            let answer = try await setup.relay.purchase(TestPurchase(email: "ana@example.test"))
            let id = try #require(answer.json["validationId"].string)
            #expect(try await setup.relay.outcome(id)["status"].string == "granted")
            #expect(try await setup.relay.ops("/ops/validations/\(id)").json["traceId"].string?.count == 32)
            try await Awaiting.fact("the log says so", is: 1) {
                setup.relay.process.output.filter { $0.contains("RELAY_TRACING_OTLP_ENDPOINT") }.count
            }
        }
    }
}
