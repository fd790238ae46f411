import Instrumentation
import Traces
import Tracing

/// Work on a row, as a span of the trace that the row carries. Where nobody follows that one, whatever the task worked for before
/// is none of its business either.
///
/// - Throws: what the work throws. It is no error of the span's.
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
