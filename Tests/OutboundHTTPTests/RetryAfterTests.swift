import NIOHTTP1
import OutboundHTTP
import Testing

struct RetryAfterTests {
    /// 1994-11-06T08:49:37Z
    private static let seconds: Int64 = 784_111_777

    @Test(
        arguments: [
            ("1", 1), ("120", 120), ("0", 1), ("3600", 3_600), ("3601", 3_600), ("99999", 3_600),
            ("99999999999999999999", 3_600), ("99999999999999999999999", 3_600),
        ] as [(String, Int64)])
    func secondsAreTakenWithinASecondAndAnHour(text: String, seconds: Int64) {
        #expect((["Retry-After": text] as HTTPHeaders).retryAfter(now: 0) == .seconds(seconds))
    }

    @Test(arguments: [
        "", "-1", "-5", "1.5", "soon", "1 s", "Sun, 06 Nov 1994 08:49:37", "Sun, 31 Feb 2027 00:00:00 GMT",
        "Mon, 41 Sep 2026 14:13:50 GMT", "Mon, 21 Sep 2026 14:13:50 CET", String(repeating: "1", count: 65),
    ])
    func anUnreadableValueRequestsNoPause(text: String) {
        #expect((["Retry-After": text] as HTTPHeaders).retryAfter(now: 0) == nil)
    }

    @Test func noHeaderAsksForNothing() {
        #expect(HTTPHeaders().retryAfter(now: 0) == nil)
    }

    @Test(
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 17), ("Sun, 06 Nov 1994 08:49:20 GMT", 1),
            ("Sun, 06 Nov 1994 09:59:37 GMT", 3600), ("Sun Nov  6 08:50:20 1994", 60),
            ("Sun, 06 Nov 1994 08:49:50 GMT", 30),
        ] as [(String, Int64)])
    func aDateIsRelativeToTheServersOwnClock(text: String, seconds: Int64) {
        let headers: HTTPHeaders = ["Retry-After": text, "Date": "Sun, 06 Nov 1994 08:49:20 GMT"]
        #expect(headers.retryAfter(now: 4_000_000_000) == .seconds(seconds))
    }

    @Test func withoutTheServersDateOurClockCounts() {
        for date in [nil, "garbage"] as [String?] {
            var headers: HTTPHeaders = ["Retry-After": "Sun, 06 Nov 1994 08:49:37 GMT"]
            if let date { headers.add(name: "Date", value: date) }
            #expect(headers.retryAfter(now: Self.seconds - 30) == .seconds(30))
            #expect(headers.retryAfter(now: Self.seconds + 1_000) == .seconds(1))
        }
    }

    @Test(
        "the caller's bounds hold",
        arguments: [
            ("120", 120), ("0", 0), ("99999999999999999999", 86_400), ("Sun, 06 Nov 1994 08:49:37 GMT", 37),
            ("Sun, 06 Nov 1994 08:48:00 GMT", 0),
        ] as [(String, Int64)])
    func bounds(text: String, seconds: Int64) {
        let headers: HTTPHeaders = ["Retry-After": text]
        #expect(
            headers.retryAfter(within: .zero ... .seconds(86_400), now: Self.seconds - 37) == .seconds(seconds))
    }
}
