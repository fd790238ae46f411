import AsyncHTTPClient
import Foundation
import Hummingbird
import Logging
import NIOConcurrencyHelpers
import ReceiverSupport
import ServiceLifecycle
import Testing
import Tracing

@testable import OutboundHTTP
@testable import TraceExport
@testable import Traces

/// Export of spans to a collector, a real server in the test.
struct SpanExporterTests {
    private static let resource = TraceResource(serviceName: "relay-of-a-test", version: "1.2.3", instance: "copy-1")

    private static func exporter(_ buffer: SpanBuffer, _ port: Int, _ client: HTTPClient) -> SpanExporter {
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        return SpanExporter(
            buffer: buffer,
            target: .init(url: "http://127.0.0.1:\(port)/v1/traces", headers: [("x-api-key", "secret")]),
            resource: resource, httpClient: client, logger: logger, farewell: .seconds(60))
    }

    /// Ends gracefully when `body` returns.
    private static func running(
        _ buffer: SpanBuffer, _ port: Int, _ body: @escaping @Sendable () async throws -> Void
    ) async throws {
        let client = HTTPClient(eventLoopGroupProvider: .singleton)
        let group = ServiceGroup(
            services: [exporter(buffer, port, client)],
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        do {
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                tasks.addTask { try await group.run() }
                try await body()
                await group.triggerGracefulShutdown()
                try await tasks.waitForAll()
            }
        } catch {
            try? await client.shutdown()
            throw error
        }
        try await client.shutdown()
    }

    private static func spans(_ received: [Received]) throws -> [[String: Any]] {
        try received.flatMap { one in
            let object = try JSONSerialization.jsonObject(with: Data(one.body.utf8)) as? [String: Any]
            let resources = object?["resourceSpans"] as? [[String: Any]] ?? []
            return resources.flatMap {
                ($0["scopeSpans"] as? [[String: Any]] ?? []).flatMap { $0["spans"] as? [[String: Any]] ?? [] }
            }
        }
    }

    private static func until(_ isSo: () -> Bool) async throws {
        for _ in 0..<9_000 where !isSo() { try await Task.sleep(for: .milliseconds(20)) }
        try #require(isSo(), "it did not come")
    }

    @Test func spansAreSentAsTheProtocolHasThem() async throws {
        try await withReceiver { port, received in
            let buffer = SpanBuffer()
            let tracer = RelayTracer(buffer: buffer)
            try await Self.running(buffer, port) {
                let parent = tracer.startSpan("POST /apple/payment", context: .topLevel, ofKind: .server)
                let child = tracer.startSpan("pursue", context: parent.context, ofKind: .consumer)
                child.attributes["text"] = "words"
                child.attributes["number"] = 7
                child.attributes["flag"] = true
                child.setStatus(SpanStatus(code: .error, message: "why"))
                child.end()
                parent.end()
                try await Self.until { (try? Self.spans(received()).count) == 2 }
            }
            let first = try #require(received().first)
            #expect(first.path == "/v1/traces" && first.headers["content-type"] == "application/json")
            #expect(first.headers["x-api-key"] == "secret")
            #expect(first.headers["traceparent"] == nil, "what is sent is not traced itself")
            #expect(first.body.contains(#"{"key":"service.name","value":{"stringValue":"relay-of-a-test"}}"#))
            let spans = try Self.spans(received())
            let child = try #require(spans.first { $0["name"] as? String == "pursue" })
            let parent = try #require(spans.first { $0["name"] as? String == "POST /apple/payment" })
            #expect(child["parentSpanId"] as? String == parent["spanId"] as? String)
            #expect(child["traceId"] as? String == parent["traceId"] as? String)
            #expect(parent["parentSpanId"] == nil)
            #expect(parent["kind"] as? Int == 2 && child["kind"] as? Int == 5)
            #expect((child["status"] as? [String: Any])?["code"] as? Int == 2)
            #expect((child["startTimeUnixNano"] as? String).flatMap { UInt64($0) } ?? 0 > 1_700_000_000_000_000_000)
            let told =
                #"[{"key":"flag","value":{"boolValue":true}},{"key":"number","value":{"intValue":"7"}},{"key":"text","value":{"stringValue":"words"}}]"#
            #expect(first.body.contains(told))
        }
    }

    @Test func whatACollectorCannotTakeNowIsSentAgain() async throws {
        let refusals = NIOLockedValueBox(2)
        let respond: @Sendable (Received) async -> Response = { _ in
            let isRefused = refusals.withLockedValue { left in
                left -= 1
                return left >= 0
            }
            return Response(status: isRefused ? .serviceUnavailable : .ok)
        }
        try await withReceiver(respond) { port, received in
            let buffer = SpanBuffer()
            try await Self.running(buffer, port) {
                RelayTracer(buffer: buffer).startSpan("work", context: .topLevel, ofKind: .internal).end()
                try await Self.until { received().count == 3 }
            }
            #expect(Set(received().map(\.body)).count == 1)
        }
    }

    @Test func whatACollectorRefusesIsNotSentAgain() async throws {
        let respond: @Sendable (Received) async -> Response = {
            Response(status: $0.body.contains("\"bad\"") ? .badRequest : .ok)
        }
        try await withReceiver(respond) { port, received in
            let buffer = SpanBuffer()
            let tracer = RelayTracer(buffer: buffer)
            try await Self.running(buffer, port) {
                tracer.startSpan("bad", context: .topLevel, ofKind: .internal).end()
                try await Self.until { received().count == 1 }
                tracer.startSpan("good", context: .topLevel, ofKind: .internal).end()
                try await Self.until { received().count == 2 }
            }
            #expect(received().filter { $0.body.contains("\"bad\"") }.count == 1)
        }
    }

    @Test func remainingSpansAreSentOnceAtTheEnd() async throws {
        try await withReceiver { port, received in
            let buffer = SpanBuffer()
            let tracer = RelayTracer(buffer: buffer)
            try await Self.running(buffer, port) {
                for _ in 0..<700 { tracer.startSpan("work", context: .topLevel, ofKind: .internal).end() }
            }
            #expect(try Self.spans(received()).count == 700)
            #expect(received().count == 2, "512 at most in one")
        }
    }

    @Test("at the end a refusal leaves no span behind uncounted")
    func refusedAtTheEnd() async throws {
        let refuse: @Sendable (Received) async -> Response = { _ in Response(status: .badRequest) }
        try await withReceiver(refuse) { port, _ in
            let buffer = SpanBuffer()
            let tracer = RelayTracer(buffer: buffer)
            try await Self.running(buffer, port) {
                for _ in 0..<700 { tracer.startSpan("work", context: .topLevel, ofKind: .internal).end() }
            }
            #expect(buffer.take(atMost: 1).isEmpty)
        }
    }

    @Test(
        arguments: [
            ("https://host.example/path?secret=1", "host.example"),
            ("http://user:word@host.example:8443/x", "host.example:8443"),
            ("http://[::1]:80", "[::1]:80"), ("rubbish", nil), ("http://", nil),
        ] as [(String, String?)])
    func onlyTheHostOfAnAddressIsRecorded(url: String, host: String?) {
        #expect(ClientSpan.host(of: url) == host)
    }
}
