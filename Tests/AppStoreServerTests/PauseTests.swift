import NIOCore
import NIOHTTP1
import OutboundHTTP
import Testing

@testable import AppStoreServer

/// The App Store's `Retry-After` is a time in milliseconds since 1970.
struct PauseTests {
    private let now = 1_795_168_800_000 as Int64

    @Test(
        arguments: [
            ("1795168830000", 30_000), ("1795168800000", 1_000), ("1795160000000", 1_000), ("0", 1_000), ("120", 1_000),
            ("-1", 1_000), ("-9223372036854775808", 1_000), ("9223372036854775807", 3_600_000),
            ("253402300799999", 3_600_000), ("99999999999999999999", nil), ("soon", nil), ("", nil),
        ] as [(String, Int?)])
    func aPauseIsWithinASecondAndAnHour(text: String, milliseconds: Int?) {
        let reply = HTTPReply(status: 429, headers: ["Retry-After": text], body: .success(ByteBuffer()))
        let answer: AppStoreAnswer<Bool> = AppStoreRefusal.answer(reply, now: now)
        guard case .tryAgain("HTTP 429", let pause) = answer else {
            Issue.record("not sorted as passing")
            return
        }
        #expect(pause == milliseconds.map { .milliseconds($0) })
    }

    @Test("One customer's deleted account does not close the App Store for all", arguments: [4_040_001, 4_040_010])
    func aMissingAccount(code: Int) {
        let body = ByteBuffer(string: #"{"errorCode":\#(code),"errorMessage":"not found"}"#)
        let reply = HTTPReply(status: 404, headers: [:], body: .success(body))
        guard case .unknown = AppStoreRefusal.answer(reply, now: now) as AppStoreAnswer<Bool> else {
            Issue.record("not sorted as unknown")
            return
        }
    }
}
