/// Identity of a trace, as the W3C header fields `traceparent` and `tracestate` carry it.
///
/// Source: W3C Trace Context, sections 3.2 and 3.3.
public struct TraceContext: Sendable, Hashable {
    /// 32 lower-case hexadecimal digits, not all zero.
    public let traceId: String
    /// 16 lower-case hexadecimal digits, not all zero: the caller's span when parsed, our own when generated.
    public let spanId: String
    /// Whether the caller may have recorded this trace.
    public let isSampled: Bool
    /// The `tracestate` of other vendors, passed on unchanged; nil if there is none, or if it is longer than 512 bytes.
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

    /// The same trace with a new span id of our own, for outgoing calls.
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

extension TraceContext {
    private static let length = 55

    /// Reads a `traceparent` header; nil if it is invalid, so that the caller starts a new trace.
    ///
    /// Version 00 has exactly four fields. A later version may add more after another hyphen. The four known fields are
    /// then used and the rest is ignored, as the specification requires. Version `ff` is forbidden.
    ///
    /// - Parameter tracestate: kept only if it can be passed on unchanged: 512 bytes of printable ASCII at most.
    public init?(traceparent: String, tracestate: String? = nil) {
        // Bounded above any sensible future version, so that a hostile header costs nothing.
        let bytes = Array(traceparent.utf8.prefix(512))
        guard bytes.count >= Self.length,
            [2, 35, 52].allSatisfy({ bytes[$0] == UInt8(ascii: "-") }),
            [0..<2, 3..<35, 36..<52, 53..<55].allSatisfy({ bytes[$0].allSatisfy(Self.isLowerHexadecimal) })
        else { return nil }
        let version = bytes[0..<2]
        guard !version.elementsEqual("ff".utf8) else { return nil }
        if bytes.count > Self.length {
            guard !version.elementsEqual("00".utf8), bytes[Self.length] == UInt8(ascii: "-") else { return nil }
        }
        guard bytes[3..<35].contains(where: { $0 != UInt8(ascii: "0") }),
            bytes[36..<52].contains(where: { $0 != UInt8(ascii: "0") })
        else { return nil }
        let last = bytes[54]
        let value = last >= UInt8(ascii: "a") ? last - UInt8(ascii: "a") + 10 : last - UInt8(ascii: "0")
        self.init(
            uncheckedTraceId: String(decoding: bytes[3..<35], as: UTF8.self),
            spanId: String(decoding: bytes[36..<52], as: UTF8.self),
            isSampled: value & 1 == 1, state: tracestate.flatMap { Self.isPassable($0) ? $0 : nil })
    }

    private static func isPassable(_ state: String) -> Bool {
        (1...512).contains(state.utf8.count) && state.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    }

    private static func isLowerHexadecimal(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"): true
        default: false
        }
    }
}
