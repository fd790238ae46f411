import NIOHTTP1
import Testing

@testable import Cleeng

struct RetryAfterTests {
    private static let date = "Sun, 06 Nov 1994 08:49:37 GMT"
    private static let seconds: Int64 = 784_111_777

    @Test(
        arguments: [
            ("1", 1), ("120", 120), ("0", 1), ("3600", 3600), ("3601", 3600), ("99999999999999999999999", 3600),
        ] as [(String, Int64)])
    func secondsAreTakenWithinASecondAndAnHour(text: String, seconds: Int64) {
        #expect(RetryAfter.duration(in: ["Retry-After": text], now: { 0 }) == .seconds(seconds))
    }

    @Test(arguments: ["", "-1", "1.5", "soon", "1 s", "Sun, 06 Nov 1994 08:49:37", "Sun, 31 Feb 2027 00:00:00 GMT"])
    func whatCannotBeReadAsksForNothing(text: String) {
        #expect(RetryAfter.duration(in: ["Retry-After": text], now: { 0 }) == nil)
    }

    @Test func noHeaderAsksForNothing() {
        #expect(RetryAfter.duration(in: [:], now: { 0 }) == nil)
    }

    @Test(
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 17), ("Sun, 06 Nov 1994 08:49:20 GMT", 1),
            ("Sun, 06 Nov 1994 09:59:37 GMT", 3600), ("Sun Nov  6 08:50:20 1994", 60),
        ] as [(String, Int64)])
    func aDateIsRelativeToTheServersOwnClock(text: String, seconds: Int64) {
        let headers: HTTPHeaders = ["Retry-After": text, "Date": "Sun, 06 Nov 1994 08:49:20 GMT"]
        #expect(RetryAfter.duration(in: headers, now: { 4_000_000_000 }) == .seconds(seconds))
    }

    @Test func aDateIsRelativeToOurClockWhereTheServerNamesNone() {
        for date in [nil, "garbage"] as [String?] {
            var headers: HTTPHeaders = ["Retry-After": Self.date]
            if let date { headers.add(name: "Date", value: date) }
            #expect(RetryAfter.duration(in: headers, now: { Self.seconds - 30 }) == .seconds(30))
        }
    }

    @Test(
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sun Nov  6 08:49:37 1994", 784_111_777),
            ("Sunday, 06-Nov-26 08:49:37 GMT", 1_793_954_977), ("Thu, 29 Feb 2024 23:59:60 GMT", 1_709_251_200),
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Wed, 01 Mar 2100 00:00:00 GMT", 4_107_542_400),
        ] as [(String, Int64)])
    func theThreeFormsOfADateAreRead(text: String, seconds: Int64) {
        #expect(HTTPDate.seconds(text) == seconds)
    }

    @Test(arguments: [
        "Mon, 29 Feb 2100 00:00:00 GMT", "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Foo 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 8:49 GMT", "Sun, +6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 CET", "     ",
    ])
    func whatIsNoDateIsRefused(text: String) {
        #expect(HTTPDate.seconds(text) == nil)
    }
}
