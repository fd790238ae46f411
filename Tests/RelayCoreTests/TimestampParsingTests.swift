import RelayCore
import Testing

@Suite("Times as operators write them")
struct TimestampParsingTests {
    @Test("are read as written, over many centuries")
    func roundTrip() throws {
        for day in stride(from: Int64(0), to: 400_000, by: 37) {
            let moment = Timestamp(microseconds: (day * 86_400 + day % 86_400) * 1_000_000 + day % 1_000 * 1_000)
            #expect(Timestamp(rfc3339: moment.rfc3339) == moment)
        }
    }

    @Test("may have up to six decimals or none, or be a date alone")
    func shapes() {
        #expect(Timestamp(rfc3339: "1970-01-02")?.microseconds == 86_400_000_000)
        #expect(Timestamp(rfc3339: "1970-01-01T00:00:01Z")?.microseconds == 1_000_000)
        #expect(Timestamp(rfc3339: "1970-01-01T00:00:01.5Z")?.microseconds == 1_500_000)
        #expect(Timestamp(rfc3339: "1970-01-01T00:00:01.123456Z")?.microseconds == 1_123_456)
        #expect(Timestamp(rfc3339: "2024-02-29T23:59:59Z") != nil)
    }

    @Test(
        "are refused otherwise",
        arguments: [
            "", "2026", "2026-1-1", "2026-13-01", "2026-00-01", "2026-02-29", "2026-04-31", "2026-01-00", "2026-01-01T",
            "2026-01-01T00:00Z", "2026-01-01T24:00:00Z", "2026-01-01T00:60:00Z", "2026-01-01T00:00:60Z",
            "2026-01-01T00:00:00", "2026-01-01T00:00:00+01:00", "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00.1234567Z",
            "2026-01-01 00:00:00Z", "-026-01-01", "٢٠٢٦-01-01", "2026-01-01Z", "2026-01-01T00:00:00ZZ",
        ])
    func refused(text: String) {
        #expect(Timestamp(rfc3339: text) == nil)
    }
}
