import Instrumentation
public import Logging

extension Logger.MetadataProvider {
    /// `trace_id` and `span_id` of the trace that the task works for.
    public static var trace: Logger.MetadataProvider {
        Logger.MetadataProvider {
            guard let trace = InstrumentationContext.current?.trace else { return [:] }
            return ["trace_id": "\(trace.traceId)", "span_id": "\(trace.spanId)"]
        }
    }
}
