public import Instrumentation

extension InstrumentationContext {
    private enum Key: InstrumentationContextKey {
        typealias Value = TraceContext
        static let nameOverride: String? = "trace"
    }

    /// The trace that the task works for; nil where nobody follows it.
    public var trace: TraceContext? {
        get { self[Key.self] }
        set { self[Key.self] = newValue }
    }
}
