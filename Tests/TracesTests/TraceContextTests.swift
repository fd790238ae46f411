import Testing
import Traces

struct TraceContextTests {
    private static let trace = "0af7651916cd43dd8448eb211c80319c"
    private static let span = "b7ad6b7169203331"

    @Test func aVersion00HeaderIsReadAndWrittenBack() throws {
        let header = "00-\(Self.trace)-\(Self.span)-01"
        let context = try #require(TraceContext(traceparent: header))
        #expect(context.traceId == Self.trace)
        #expect(context.spanId == Self.span)
        #expect(context.isSampled)
        #expect(context.traceparent == header)
    }

    @Test(arguments: [
        ("00", false), ("01", true), ("02", false), ("03", true), ("0a", false), ("0b", true), ("ff", true),
    ])
    func onlyTheLastBitSaysSampled(flags: String, sampled: Bool) throws {
        let context = try #require(TraceContext(traceparent: "00-\(Self.trace)-\(Self.span)-\(flags)"))
        #expect(context.isSampled == sampled)
        #expect(context.traceparent.hasSuffix(sampled ? "-01" : "-00"))
    }

    @Test(arguments: ["cc-\(trace)-\(span)-01", "01-\(trace)-\(span)-01-what-the-future-brings"])
    func aLaterVersionIsReadAsFarAsItIsKnown(header: String) throws {
        let context = try #require(TraceContext(traceparent: header))
        #expect(context.traceparent == "00-\(Self.trace)-\(Self.span)-01")
    }

    @Test(arguments: [
        "", "00", "ff-\(trace)-\(span)-01", "00-\(trace)-\(span)-01-more", "00-\(trace)-\(span)-01-",
        "01-\(trace)-\(span)-01more", "00-\(trace)-\(span)-0", "00-\(trace)-\(span)-0g",
        "00-00000000000000000000000000000000-\(span)-01", "00-\(trace)-0000000000000000-01",
        "00-\(trace.uppercased())-\(span)-01", "00_\(trace)-\(span)-01", "00-\(trace)-\(span)_01",
        " 00-\(trace)-\(span)-01", "00-éaf7651916cd43dd8448eb211c80319-\(span)-01",
    ])
    func whatIsNoTraceparentIsRefused(header: String) {
        #expect(TraceContext(traceparent: header) == nil)
    }

    @Test func aGeneratedTraceIsReadableAndDependsOnTheRandomnessAlone() throws {
        var first = Counting(next: 0x1234)
        var second = Counting(next: 0x1234)
        let context = TraceContext.generate(isSampled: true, using: &first)
        #expect(context == TraceContext.generate(isSampled: true, using: &second))
        #expect(context.traceparent == "00-00000000000012340000000000001235-0000000000001236-01")
        #expect(TraceContext(traceparent: context.traceparent) == context)
    }

    @Test func aChildKeepsTheTraceAndHasItsOwnSpan() throws {
        var random = Counting(next: 7)
        let parent = try #require(TraceContext(traceparent: "00-\(Self.trace)-\(Self.span)-01"))
        #expect(parent.child(using: &random).traceparent == "00-\(Self.trace)-0000000000000007-01")
    }

    @Test func zeroRandomnessStillMakesAValidTrace() {
        var random = Zeros()
        let context = TraceContext.generate(using: &random)
        #expect(TraceContext(traceparent: context.traceparent) == context)
    }
}

private struct Counting: RandomNumberGenerator {
    var state: UInt64

    init(next: UInt64) { state = next }

    mutating func next() -> UInt64 {
        defer { state += 1 }
        return state
    }
}

private struct Zeros: RandomNumberGenerator {
    mutating func next() -> UInt64 { 0 }
}
