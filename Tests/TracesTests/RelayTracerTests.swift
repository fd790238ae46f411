import Instrumentation
import Testing
import Tracing

@testable import Traces

/// Which spans are recorded, and which context is passed on.
struct RelayTracerTests {
    private struct Fields: Injector, Extractor {
        func inject(_ value: String, forKey name: String, into carrier: inout [String: String]) {
            carrier[name] = value
        }
        func extract(key: String, from carrier: [String: String]) -> String? { carrier[key] }
    }

    private static let sampled = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    private static let unsampled = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"

    private func context(_ tracer: RelayTracer, _ fields: [String: String]) -> InstrumentationContext {
        var context = InstrumentationContext.topLevel
        tracer.extract(fields, into: &context, using: Fields())
        return context
    }

    private func fields(_ tracer: RelayTracer, _ context: InstrumentationContext) -> [String: String] {
        var fields: [String: String] = [:]
        tracer.inject(context, into: &fields, using: Fields())
        return fields
    }

    @Test(arguments: [sampled, unsampled])
    func withoutABufferTheContextIsPropagatedUnchanged(parent: String) {
        let tracer = RelayTracer()
        let given = ["traceparent": parent, "tracestate": "vendor=1,other=2"]
        let span = tracer.startSpan("work", context: context(tracer, given), ofKind: .server)
        #expect(!span.isRecording)
        #expect(fields(tracer, span.context) == given)
        span.attributes["a"] = 1
        span.end()
        #expect(span.attributes.isEmpty)
    }

    @Test func whatTheCallerRecordsIsRecordedAsItsChild() throws {
        let buffer = SpanBuffer()
        let tracer = RelayTracer(buffer: buffer, sampling: Sampling(ratio: 0))
        let span = tracer.startSpan(
            "work", context: context(tracer, ["traceparent": Self.sampled, "tracestate": "vendor=1"]), ofKind: .server)
        #expect(span.isRecording)
        span.operationName = "other"
        span.attributes["a"] = 1
        span.setStatus(SpanStatus(code: .error))
        span.end()
        span.end()
        let ended = try #require(buffer.take(atMost: 10).first)
        #expect(buffer.take(atMost: 10).isEmpty, "a span that ends twice is sent once")
        #expect(ended.trace.traceId == "0af7651916cd43dd8448eb211c80319c" && ended.parent == "b7ad6b7169203331")
        #expect(ended.trace.spanId != ended.parent && ended.trace.state == "vendor=1")
        #expect(ended.name == "other" && ended.kind == .server && ended.end >= ended.start)
        #expect(
            fields(tracer, span.context)["traceparent"]
                == "00-0af7651916cd43dd8448eb211c80319c-\(ended.trace.spanId)-01")
    }

    @Test func anUnrecordedTraceIsOnlyPropagated() {
        let buffer = SpanBuffer()
        let tracer = RelayTracer(buffer: buffer, sampling: Sampling(ratio: 1))
        let span = tracer.startSpan(
            "work", context: context(tracer, ["traceparent": Self.unsampled]), ofKind: .server)
        #expect(!span.isRecording)
        #expect(fields(tracer, span.context) == ["traceparent": Self.unsampled])
    }

    @Test(arguments: [(0.0, 0...0), (1.0, 1_000...1_000), (0.25, 150...350)])
    func ofWhatBeginsHereAPartIsTaken(ratio: Double, wanted: ClosedRange<Int>) {
        let tracer = RelayTracer(buffer: SpanBuffer(), sampling: Sampling(ratio: ratio))
        let taken = (0..<1_000).filter { _ in
            tracer.startSpan("work", context: .topLevel, ofKind: .internal).isRecording
        }
        #expect(wanted.contains(taken.count))
        let none = tracer.startSpan("work", context: .topLevel, ofKind: .internal)
        #expect(none.isRecording || fields(tracer, none.context).isEmpty, "a trace that nobody follows has no name")
    }

    @Test func whatDoesNotFitIsDroppedAndNothingWaits() {
        let buffer = SpanBuffer(capacity: 3)
        let tracer = RelayTracer(buffer: buffer)
        for _ in 0..<5 { tracer.startSpan("work", context: .topLevel, ofKind: .internal).end() }
        #expect(buffer.take(atMost: 10).count == 3)
        tracer.startSpan("work", context: .topLevel, ofKind: .internal).end()
        #expect(buffer.take(atMost: 10).count == 1)
    }

    @Test func anErrorsTypeIsRecordedAndNotItsMessage() throws {
        struct Trouble: Error { let secret = "ana@example.test" }
        let buffer = SpanBuffer()
        let span = RelayTracer(buffer: buffer).startSpan("work", context: .topLevel, ofKind: .internal)
        span.recordError(Trouble())
        for _ in 0..<100 { span.addEvent(SpanEvent(name: "again")) }
        span.end()
        let ended = try #require(buffer.take(atMost: 1).first)
        #expect(ended.events.count == 64, "bounded")
        #expect(ended.events[0].attributes["exception.type"]?.toSpanAttribute() == .string("Trouble"))
        #expect(ended.events[0].attributes.count == 1)
    }

    @Test func aRowCarriesATraceAndItsState() throws {
        let tracer = RelayTracer()
        for state in [nil, "vendor=1,other=two words"] as [String?] {
            var given = ["traceparent": Self.sampled]
            given["tracestate"] = state
            let stored = InstrumentationContext.withValue(context(tracer, given)) { StoredTrace.current }
            #expect(stored == state.map { "\(Self.sampled) \($0)" } ?? Self.sampled)
            #expect(fields(tracer, try #require(StoredTrace.context(stored))) == given)
            #expect(StoredTrace.id(stored) == "0af7651916cd43dd8448eb211c80319c")
        }
        #expect(StoredTrace.current == nil)
        for nothing in [nil, "", " ", "rubbish", "00-00-00-00 vendor=1"] as [String?] {
            #expect(StoredTrace.context(nothing) == nil && StoredTrace.id(nothing) == nil)
        }
    }

    @Test(arguments: [String(repeating: "a", count: 513), "", "vendor=\u{1}", "vendor=é"])
    func aStateThatCannotBePassedOnIsLeftOut(state: String) {
        let tracer = RelayTracer()
        let context = context(tracer, ["traceparent": Self.sampled, "tracestate": state])
        #expect(fields(tracer, context) == ["traceparent": Self.sampled])
    }
}
