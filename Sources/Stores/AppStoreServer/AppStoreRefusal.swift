import Formats
import Foundation
import NIOFoundationCompat
import NIOHTTP1
import OutboundHTTP

/// Interprets answers of the App Store with a status other than 200.
enum AppStoreRefusal {
    struct Fault: Decodable {
        let errorCode: Int64
    }

    /// | status, code | means | source |
    /// | --- | --- | --- |
    /// | 401 | our key | Apple: the token is not valid |
    /// | 404 4040010, 4040005; 400 4000006, 4000008 | unknown | no such transaction |
    /// | 404 4040001 | unknown | the customer's Apple account no longer exists |
    /// | 404 4040008 | unknown | nothing known of a test notification yet |
    /// | 404 4040007 | our settings | App Store Connect has no URL for notifications |
    /// | 4040002, 4040004, 4040006, 429, 5xx, 408 | try again | Apple's library calls them retryable |
    /// | all else | our settings | |
    static func answer<Value>(
        _ reply: HTTPReply, now: Int64 = WallClock.millisecondsSince1970
    ) -> AppStoreAnswer<Value> {
        let fault = reply.wholeBody.flatMap { try? JSONDecoder().decode(Fault.self, from: Data(buffer: $0)) }
        let (status, code) = (reply.status, fault?.errorCode)
        switch (status, code) {
        case (401, _): return .misconfigured("the key, its id or the issuer's is refused")
        case (_, 4_040_010), (_, 4_040_001), (_, 4_040_005), (_, 4_040_008), (_, 4_000_006), (_, 4_000_008):
            return .unknown
        case (_, 4_040_007):
            return .misconfigured(
                "App Store Connect has no App Store Server Notifications URL for this app and environment (4040007)")
        case (_, 4_040_002), (_, 4_040_004), (_, 4_040_006): return .tryAgain("\(code ?? 0)", retryAfter: nil)
        case (408, _), (429, _), (500..., _):
            return .tryAgain("HTTP \(status)", retryAfter: pause(reply.headers, now: now))
        default: return .misconfigured("HTTP \(status)\(code.map { ", code \($0)" } ?? "")")
        }
    }

    /// Reads Apple's `Retry-After`, a time in milliseconds since 1970. Nil if there is none.
    private static func pause(_ headers: HTTPHeaders, now: Int64) -> Duration? {
        guard let until = headers.first(name: "Retry-After").flatMap({ Int64($0) }) else { return nil }
        return (Duration.milliseconds(until) - .milliseconds(now)).clamped(to: RetryAfter.secondToHour)
    }
}
