public import Instrumentation

/// A trace stored in a row. It connects the request that wrote the row with the worker that continues it, in another
/// process or an hour later.
///
/// The text is `traceparent`, followed by a space and `tracestate` if there is one: 568 bytes at most.
public enum StoredTrace {
    /// Trace of the current task; nil if it is not traced.
    public static var current: String? {
        InstrumentationContext.current.flatMap(text)
    }

    static func text(_ context: InstrumentationContext) -> String? {
        guard let trace = context.trace else { return nil }
        return trace.state.map { "\(trace.traceparent) \($0)" } ?? trace.traceparent
    }

    /// - Parameter stored: a value of ``current``; any other text yields nil.
    public static func context(_ stored: String?) -> InstrumentationContext? {
        guard let stored else { return nil }
        let parts = stored.split(separator: " ", maxSplits: 1).map(String.init)
        guard let first = parts.first,
            let trace = TraceContext(traceparent: first, tracestate: parts.count == 2 ? parts[1] : nil)
        else { return nil }
        var context = InstrumentationContext.topLevel
        context.trace = trace
        return context
    }

    /// Trace id: the 32 digits by which a trace is looked up.
    public static func id(_ stored: String?) -> String? {
        context(stored)?.trace?.traceId
    }
}
