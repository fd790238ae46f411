public import Instrumentation
public import Logging
public import Tracing

/// Tracer for `InstrumentationSystem`: passes the W3C trace context on, and records spans if there is a buffer for
/// them.
///
/// Without a ``SpanBuffer`` nothing is recorded, and the incoming context is passed on unchanged. The caller and the
/// called service then still see one trace. An unrecorded span does not appear in the trace.
public struct RelayTracer: Tracer {
    private static let parent = "traceparent"
    private static let state = "tracestate"

    private let buffer: SpanBuffer?
    private let sampling: Sampling

    /// - Parameters:
    ///   - buffer: receives ended spans; nil: no span is recorded.
    ///   - sampling: applies to traces that begin here.
    public init(buffer: SpanBuffer? = nil, sampling: Sampling = Sampling(ratio: 1)) {
        self.buffer = buffer
        self.sampling = sampling
    }

    public func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier, into context: inout InstrumentationContext, using extractor: Extract
    ) where Extract.Carrier == Carrier {
        guard let parent = extractor.extract(key: Self.parent, from: carrier),
            let trace = TraceContext(
                traceparent: parent, tracestate: extractor.extract(key: Self.state, from: carrier))
        else { return }
        context.trace = trace
    }

    public func inject<Carrier, Inject: Injector>(
        _ context: InstrumentationContext, into carrier: inout Carrier, using injector: Inject
    ) where Inject.Carrier == Carrier {
        guard let trace = context.trace else { return }
        injector.inject(trace.traceparent, forKey: Self.parent, into: &carrier)
        if let state = trace.state { injector.inject(state, forKey: Self.state, into: &carrier) }
    }

    public func startSpan<Instant: TracerInstant>(
        _ operationName: String, context: @autoclosure () -> InstrumentationContext, ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
    ) -> RelaySpan {
        var context = context()
        let parent = context.trace
        var random = SystemRandomNumberGenerator()
        guard let buffer, parent?.isSampled ?? sampling.takes(using: &random) else {
            return RelaySpan(passing: context)
        }
        let trace = parent?.child(using: &random) ?? .generate(isSampled: true, using: &random)
        context.trace = trace
        return RelaySpan(
            FinishedSpan(
                trace: trace, parent: parent?.spanId, name: operationName, kind: kind,
                start: instant().nanosecondsSinceEpoch),
            in: context, to: buffer)
    }

    /// Empty: the exporter sends spans within a second anyway.
    public func forceFlush() {}
}

/// Which traces are recorded.
///
/// Callers decide for their own requests; a share of the traces that begin here is recorded.
public struct Sampling: Sendable, Equatable {
    /// 0 to 1.
    public let ratio: Double

    public init(ratio: Double) {
        self.ratio = min(max(ratio, 0), 1)
    }

    func takes(using random: inout some RandomNumberGenerator) -> Bool {
        ratio > 0 && Double.random(in: 0..<1, using: &random) < ratio
    }
}

extension Logger.MetadataProvider {
    /// Adds `trace_id` and `span_id` of the current task's trace.
    public static var trace: Logger.MetadataProvider {
        Logger.MetadataProvider {
            guard let trace = InstrumentationContext.current?.trace else { return [:] }
            return ["trace_id": "\(trace.traceId)", "span_id": "\(trace.spanId)"]
        }
    }
}

extension InstrumentationContext {
    private enum Key: InstrumentationContextKey {
        typealias Value = TraceContext
        static let nameOverride: String? = "trace"
    }

    /// The current task's trace; nil if the task is not traced.
    public var trace: TraceContext? {
        get { self[Key.self] }
        set { self[Key.self] = newValue }
    }
}
