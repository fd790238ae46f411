import Instrumentation
import Traces
import Tracing

/// Runs the work on a row as a span of the row's trace. A row without a trace does not join the task's previous trace.
///
/// - Throws: errors of the work. The span does not record them.
func traced<Failure: Error>(
    _ name: String, _ stored: String?, _ attributes: @autoclosure () -> SpanAttributes,
    _ work: () async throws(Failure) -> Void
) async throws(Failure) {
    var failure: Failure?
    func attempt() async {
        do throws(Failure) { try await work() } catch { failure = error }
    }
    if let context = StoredTrace.context(stored) {
        await withSpan(name, context: context, ofKind: .consumer) { span in
            if span.isRecording { span.attributes = attributes() }
            await attempt()
        }
    } else if InstrumentationContext.current != nil {
        await InstrumentationContext.$current.withValue(nil) { await attempt() }
    } else {
        await attempt()
    }
    if let failure { throw failure }
}
