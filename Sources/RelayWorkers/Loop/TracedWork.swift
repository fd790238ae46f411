import Instrumentation
import Traces
import Tracing

/// Work on a row, as a span of the trace that the row carries. Where nobody follows that one, whatever the task worked for before
/// is none of its business either.
func traced(
    _ name: String, _ stored: String?, _ attributes: @autoclosure () -> SpanAttributes, _ work: () async -> Void
) async {
    guard let context = StoredTrace.context(stored) else {
        guard InstrumentationContext.current != nil else { return await work() }
        return await InstrumentationContext.$current.withValue(nil) { await work() }
    }
    await withSpan(name, context: context, ofKind: .consumer) { span in
        if span.isRecording { span.attributes = attributes() }
        await work()
    }
}
