public import Metrics
import NIOConcurrencyHelpers
package import Tracing

/// Spans that have ended and wait to be sent. It is bounded: what does not fit is counted and dropped, and nothing waits for it.
public final class SpanBuffer: Sendable {
    /// How many are kept.
    public let capacity: Int
    private let spans = NIOLockedValueBox<[FinishedSpan]>([])
    private let dropped: Counter
    private let continuation: AsyncStream<Void>.Continuation
    /// Yields when there is something again.
    package let signals: AsyncStream<Void>

    /// - Parameter metrics: whose `relay_trace_spans_dropped` counts.
    public init(capacity: Int = 8_192, metrics: any MetricsFactory = MetricsSystem.factory) {
        self.capacity = capacity
        dropped = Counter(
            label: "relay_trace_spans_dropped", dimensions: [("reason", "full")], factory: metrics)
        (signals, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    func add(_ span: FinishedSpan) {
        let (isFirst, isKept) = spans.withLockedValue { spans in
            guard spans.count < capacity else { return (false, false) }
            spans.append(span)
            return (spans.count == 1, true)
        }
        if !isKept { dropped.increment() }
        if isFirst { continuation.yield() }
    }

    /// The oldest.
    package func take(atMost count: Int) -> [FinishedSpan] {
        spans.withLockedValue { spans in
            let taken = Array(spans.prefix(count))
            spans.removeFirst(taken.count)
            return taken
        }
    }

    /// Nobody will take what comes from now on.
    package func close() { continuation.finish() }
}

/// All of a span that is sent.
package struct FinishedSpan: Sendable {
    package struct Event: Sendable {
        package var name: String
        package var at: UInt64
        package var attributes: SpanAttributes
    }

    package let trace: TraceContext
    /// The span id of its cause.
    package let parent: String?
    package var name: String
    package let kind: SpanKind
    /// Nanoseconds since 1970, as ``end`` is.
    package let start: UInt64
    package var end: UInt64 = 0
    package var attributes: SpanAttributes = [:]
    package var events: [Event] = []
    package var links: [TraceContext] = []
    package var status: SpanStatus?

    /// As many of each; what comes later is left out.
    static let mostEvents = 64
    static let mostLinks = 64
}
