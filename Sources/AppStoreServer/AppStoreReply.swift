import AsyncHTTPClient
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTP1

/// An answer of the App Store as it came.
struct AppStoreReply: Sendable {
    var status: Int
    var headers: HTTPHeaders
    var body: ByteBuffer

    struct TimedOut: Error {}

    /// The client's own deadline ends with the head: a body that trickles is raced against the clock.
    static func of(
        _ request: HTTPClientRequest, _ httpClient: HTTPClient, within timeout: Duration, atMost bytes: Int
    ) async throws -> AppStoreReply {
        try await withThrowingTaskGroup(of: AppStoreReply?.self) { group in
            group.addTask {
                let response = try await httpClient.execute(request, timeout: TimeAmount(timeout))
                let body = try await response.body.collect(upTo: bytes)
                return AppStoreReply(status: Int(response.status.code), headers: response.headers, body: body)
            }
            group.addTask {
                try await Task.sleep(for: timeout)
                return nil
            }
            defer { group.cancelAll() }
            guard let reply = try await group.next() ?? nil else { throw TimedOut() }
            return reply
        }
    }

    /// Of a fixed set, fit for a log: the client's own errors may hold more.
    static func word(for error: any Error) -> String {
        let late: [HTTPClientError] = [.deadlineExceeded, .connectTimeout, .readTimeout]
        if error is TimedOut || (error as? HTTPClientError).map(late.contains) == true { return "timeout" }
        return error is CancellationError ? "cancelled" : "connection"
    }

    private struct Fault: Decodable {
        let errorCode: Int64
    }

    /// What an answer other than 200 means.
    ///
    /// | status, code | means | source |
    /// | --- | --- | --- |
    /// | 401 | our key | Apple: the token is not valid |
    /// | 404 4040010, 4040005; 400 4000006, 4000008 | unknown | no such transaction |
    /// | 4040002, 4040004, 4040006, 429, 5xx, 408 | try again | Apple's library calls them retryable |
    /// | all else | our settings | |
    func refusal<Value>(now: Date) -> AppStoreAnswer<Value> {
        let code = (try? JSONDecoder().decode(Fault.self, from: Data(buffer: body)))?.errorCode
        switch (status, code) {
        case (401, _): return .misconfigured("the key, its id or the issuer's is refused")
        case (_, 4_040_010), (_, 4_040_005), (_, 4_000_006), (_, 4_000_008): return .unknown
        case (_, 4_040_002), (_, 4_040_004), (_, 4_040_006): return .tryAgain("\(code ?? 0)", retryAfter: nil)
        case (408, _), (429, _), (500..., _):
            return .tryAgain("HTTP \(status)", retryAfter: Self.pause(headers, now: now))
        default: return .misconfigured("HTTP \(status)\(code.map { ", code \($0)" } ?? "")")
        }
    }

    /// Apple's `Retry-After` is a moment, in milliseconds since 1970. Within 1 s and 1 h, however far away or long ago it is; nil where
    /// there is none.
    static func pause(_ headers: HTTPHeaders, now: Date) -> Duration? {
        guard let text = headers.first(name: "Retry-After"), let number = Int64(text) else { return nil }
        // Held to the years 1970 to 9999, so that no difference overflows.
        let until = min(max(number, 0), 253_402_300_799_999)
        return .milliseconds(min(max(until - Int64(now.timeIntervalSince1970 * 1_000), 1_000), 3_600_000))
    }
}

extension TimeAmount {
    fileprivate init(_ duration: Duration) {
        self = .milliseconds(max(1, Int64(duration / .milliseconds(1))))
    }
}
