/// The trace that something belongs to, as the W3C's `traceparent` and `tracestate` header fields carry it.
///
/// Source: W3C Trace Context, sections 3.2 and 3.3.
public struct TraceContext: Sendable, Hashable {
    /// 32 lower-case hexadecimal digits, not all zero.
    public let traceId: String
    /// 16 lower-case hexadecimal digits, not all zero: the caller's span when parsed, our own when generated.
    public let spanId: String
    /// Whether the caller may have recorded this trace.
    public let isSampled: Bool
    /// What others keep of it beside, passed on as it came; nil for nothing, or what is longer than 512 bytes.
    public let state: String?

    init(uncheckedTraceId traceId: String, spanId: String, isSampled: Bool, state: String? = nil) {
        self.traceId = traceId
        self.spanId = spanId
        self.isSampled = isSampled
        self.state = state
    }

    /// A new trace.
    public static func generate(
        isSampled: Bool = false, using random: inout some RandomNumberGenerator
    ) -> TraceContext {
        let high = hexadecimal(random.next())
        let low = hexadecimal(nonZero(random.next()))
        let span = hexadecimal(nonZero(random.next()))
        return TraceContext(uncheckedTraceId: high + low, spanId: span, isSampled: isSampled)
    }

    /// The same trace with a span of our own, for what we send on.
    public func child(using random: inout some RandomNumberGenerator) -> TraceContext {
        let span = Self.hexadecimal(Self.nonZero(random.next()))
        return TraceContext(uncheckedTraceId: traceId, spanId: span, isSampled: isSampled, state: state)
    }

    /// The header's value, always in version 00.
    public var traceparent: String {
        "00-\(traceId)-\(spanId)-\(isSampled ? "01" : "00")"
    }

    private static func nonZero(_ value: UInt64) -> UInt64 {
        value == 0 ? 1 : value
    }

    private static func hexadecimal(_ value: UInt64) -> String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
