package import Tracing

/// All of a span that is sent.
package struct FinishedSpan: Sendable {
    package struct Event: Sendable {
        package var name: String
        package var at: UInt64
        package var attributes: SpanAttributes
    }

    package let trace: TraceContext
    /// The span id of whoever caused it.
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
