public import Instrumentation
import NIOConcurrencyHelpers
public import Tracing

/// A span in progress. A span that is not recorded consists only of its context.
public struct RelaySpan: Span {
    public let context: InstrumentationContext
    /// The span's data; nil inside the box once the span has ended. No box: the span is not recorded.
    private let box: NIOLockedValueBox<FinishedSpan?>?
    private let buffer: SpanBuffer?

    /// An unrecorded span, which passes the trace on unchanged.
    init(passing context: InstrumentationContext) {
        self.context = context
        box = nil
        buffer = nil
    }

    init(_ begun: FinishedSpan, in context: InstrumentationContext, to buffer: SpanBuffer) {
        self.context = context
        box = NIOLockedValueBox(begun)
        self.buffer = buffer
    }

    public var isRecording: Bool { box?.withLockedValue { $0 != nil } ?? false }

    public var operationName: String {
        get { box?.withLockedValue { $0?.name } ?? "" }
        nonmutating set { change { $0.name = newValue } }
    }

    public var attributes: SpanAttributes {
        get { box?.withLockedValue { $0?.attributes } ?? [:] }
        nonmutating set { change { $0.attributes = newValue } }
    }

    public func setStatus(_ status: SpanStatus) { change { $0.status = status } }

    public func addEvent(_ event: SpanEvent) {
        add(FinishedSpan.Event(name: event.name, at: event.nanosecondsSinceEpoch, attributes: event.attributes))
    }

    /// Records only the error's type: its text may hold more than a trace should.
    public func recordError<Instant: TracerInstant>(
        _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Instant
    ) {
        var attributes = attributes
        attributes["exception.type"] = "\(type(of: error))"
        add(FinishedSpan.Event(name: "exception", at: instant().nanosecondsSinceEpoch, attributes: attributes))
    }

    private func add(_ event: FinishedSpan.Event) {
        change { if $0.events.count < FinishedSpan.mostEvents { $0.events.append(event) } }
    }

    public func addLink(_ link: SpanLink) {
        guard let trace = link.context.trace else { return }
        change { if $0.links.count < FinishedSpan.mostLinks { $0.links.append(trace) } }
    }

    public func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {
        guard let box, let ended = box.withLockedValue({ $0.take() }) else { return }
        var span = ended
        // If the clock was set back, the span must not end before it began.
        span.end = max(span.start, instant().nanosecondsSinceEpoch)
        buffer?.add(span)
    }

    private func change(_ body: (inout FinishedSpan) -> Void) {
        box?.withLockedValue { span in
            guard var changed = span.take() else { return }
            body(&changed)
            span = changed
        }
    }
}
