import OutboundHTTP
import RelayCore
import StoreAPI
import Testing

@Suite struct MomentTests {
    private let now = Timestamp(seconds: 1_790_000_000)

    @Test func momentsAreReadInAllTheirLengths() throws {
        func moment(_ text: String) -> Timestamp? { JSONValue.text(text).moment }
        #expect(moment("2026-09-21T14:13:20Z") == now)
        #expect(moment("2026-09-21T14:13:20.123456789Z") == Timestamp(microseconds: 1_790_000_000_123_456))
        #expect(moment("2026-09-21T14:13:20.5Z") == Timestamp(microseconds: 1_790_000_000_500_000))
        for text in ["", "soon", "2026-13-01T00:00:00Z", "1970-01-01T00:00:00Z", "2026-09-21T14:13:20.Z", "."] {
            #expect(moment(text) == nil, "\(text)")
        }
        for number in [1_790_000_000_000, 1_790_000_000] as [Double] {
            #expect(JSONValue.number("\(number)").moment == now)
            #expect(JSONValue.text("\(Int64(number))").moment == now)
        }
        #expect(JSONValue.number("4102444800000").moment?.rfc3339 == "2100-01-01T00:00:00.000Z")
        for wrong in [
            JSONValue.number("0"), .number("1e+300"), .number("-1"), .number("253402300800000"), .flag(true),
        ] {
            #expect(wrong.moment == nil)
        }
    }
}
