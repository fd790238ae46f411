import NIOCore
import NIOHTTP1
import RelayCore
import Testing

@testable import StoreAPI

@Suite struct WireTests {
    private let now = Timestamp(seconds: 1_790_000_000)

    @Test(
        arguments: [
            ("1", 1), ("0", 1), ("120", 120), ("99999", 3_600), ("99999999999999999999", 3_600), ("-5", nil), ("", nil),
            ("soon", nil), ("Mon, 21 Sep 2026 14:13:50 GMT", 30), ("Mon, 21 Sep 2020 14:13:50 GMT", 1),
            ("Mon, 41 Sep 2026 14:13:50 GMT", nil), ("Mon, 21 Sep 2026 14:13:50 CET", nil),
        ] as [(String, Int?)])
    func retryAfterIsWithinASecondAndAnHour(text: String, seconds: Int?) {
        // 2026-09-21T14:13:20Z is what our clock says.
        #expect(RetryAfter.duration(in: ["Retry-After": text], at: now) == seconds.map { .seconds($0) })
    }

    @Test func aDateIsRelativeToTheAnswersOwn() {
        let headers: HTTPHeaders = [
            "Date": "Sun, 06 Nov 1994 08:49:07 GMT", "Retry-After": "Sun, 06 Nov 1994 08:49:37 GMT",
        ]
        #expect(RetryAfter.duration(in: headers, at: now) == .seconds(30))
    }

    @Test func whatIsNoPartOfAPathIsRefused() {
        #expect(PathPart.encoded("a/b?c#d e%é+~") == "a%2Fb%3Fc%23d%20e%25%C3%A9%2B~")
        for text in ["", ".", "..", String(repeating: "x", count: 2_049)] { #expect(PathPart.encoded(text) == nil) }
        #expect(PathPart.encoded("...") == "...")
    }

    @Test func momentsAreReadInAllTheirLengths() throws {
        func moment(_ text: String) -> Timestamp? { StoreJSON.text(text).moment }
        #expect(moment("2026-09-21T14:13:20Z") == now)
        #expect(moment("2026-09-21T14:13:20.123456789Z") == Timestamp(microseconds: 1_790_000_000_123_456))
        #expect(moment("2026-09-21T14:13:20.5Z") == Timestamp(microseconds: 1_790_000_000_500_000))
        for text in ["", "soon", "2026-13-01T00:00:00Z", "1970-01-01T00:00:00Z", "2026-09-21T14:13:20.Z", "."] {
            #expect(moment(text) == nil, "\(text)")
        }
        for number in [1_790_000_000_000, 1_790_000_000] as [Double] {
            #expect(StoreJSON.number(number).moment == now)
            #expect(StoreJSON.text("\(Int64(number))").moment == now)
        }
        #expect(StoreJSON.number(4_102_444_800_000).moment?.rfc3339 == "2100-01-01T00:00:00.000Z")
        for wrong in [StoreJSON.number(0), .number(1e300), .number(-1), .number(253_402_300_800_000), .flag(true)] {
            #expect(wrong.moment == nil)
        }
    }

    @Test func jsonIsAnObjectAndNotTooDeep() throws {
        #expect(StoreJSON(object: ByteBuffer(string: "[]")) == nil)
        #expect(StoreJSON(object: ByteBuffer(string: "{")) == nil)
        let deep = String(repeating: #"{"a":"#, count: 40) + "1" + String(repeating: "}", count: 40)
        var value = StoreJSON(object: ByteBuffer(string: deep))
        var depth = 0
        while let next = value?["a"] { (value, depth) = (next, depth + 1) }
        #expect(depth < 20)
        let hostile = String(repeating: "[", count: 100_000)
        #expect(StoreJSON(object: ByteBuffer(string: #"{"a":"# + hostile)) == nil)
    }
}
