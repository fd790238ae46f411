public import Metrics
import NIOConcurrencyHelpers
package import Tracing

/// Ended spans that wait to be sent. The buffer is bounded: spans that do not fit are dropped and counted; no caller
/// waits.
public final class SpanBuffer: Sendable {
    /// Maximum number of spans.
    public let capacity: Int
    private let spans = NIOLockedValueBox<[FinishedSpan]>([])
    private let dropped: Counter
    private let continuation: AsyncStream<Void>.Continuation
    /// Yields when the buffer has spans again.
    package let signals: AsyncStream<Void>

    /// - Parameter metrics: the factory of the counter `relay_trace_spans_dropped`.
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

    /// Removes and returns the oldest spans.
    package func take(atMost count: Int) -> [FinishedSpan] {
        spans.withLockedValue { spans in
            let taken = Array(spans.prefix(count))
            spans.removeFirst(taken.count)
            return taken
        }
    }

    /// Ends ``signals``: later spans are not sent.
    package func close() { continuation.finish() }
}

/// The exported data of a span.
package struct FinishedSpan: Sendable {
    package struct Event: Sendable {
        package var name: String
        package var at: UInt64
        package var attributes: SpanAttributes
    }

    package let trace: TraceContext
    /// Id of the parent span.
    package let parent: String?
    package var name: String
    package let kind: SpanKind
    /// Nanoseconds since 1970, like ``end``.
    package let start: UInt64
    package var end: UInt64 = 0
    package var attributes: SpanAttributes = [:]
    package var events: [Event] = []
    package var links: [TraceContext] = []
    package var status: SpanStatus?

    /// Limit for each list; later entries are left out.
    static let mostEvents = 64
    static let mostLinks = 64
}
