import Foundation
import Synchronization

@testable import RelayClient

/// Returns scripted answers in order, and records the requests.
final class StubTransport: RelayTransport {
    struct RanOut: Error {}

    typealias Line = @Sendable () throws -> RelayAnswer

    private let state: Mutex<(lines: [Line], sent: [RelayRequest])>

    init(_ lines: [Line]) { state = Mutex((lines, [])) }

    var sent: [RelayRequest] { state.withLock { $0.sent } }

    func send(_ request: RelayRequest) async throws -> RelayAnswer {
        let line = state.withLock { state in
            state.sent.append(request)
            return state.lines.isEmpty ? nil : state.lines.removeFirst()
        }
        guard let line else { throw RanOut() }
        return try line()
    }

    static func json(_ status: Int, _ text: String, _ headers: [String: String] = [:]) -> Line {
        { RelayAnswer(status: status, headers: headers, body: Data(text.utf8)) }
    }

    static func problem(_ status: Int, _ code: String, retryAfter: Int? = nil) -> Line {
        json(
            status, #"{"status":\#(status),"code":"\#(code)","title":"a title","detail":"a detail"}"#,
            retryAfter.map { ["retry-after": "\($0)"] } ?? [:])
    }

    static func lost(_ code: URLError.Code = .networkConnectionLost) -> Line { { throw URLError(code) } }

    static func state(_ status: String, _ more: String = "") -> Line {
        json(
            status == "pending" ? 202 : 200,
            """
            {"validationId":"db512a","status":"\(status)","accessGranted":\(status == "granted"),\
            "offerId":"S1_US","receivedAt":"2026-11-21T02:38:28.391Z","deadline":"2026-11-21T02:39:28.391Z",\
            "anything":[{"new":1}]\(more)}
            """, ["Retry-After": "5"])
    }
}
