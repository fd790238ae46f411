import Foundation
import NIOHTTP1
import TestRun
import Testing

@testable import AppStoreSimulator

@Suite("The log of the simulated API", .timeLimit(.paced(minutes: 4)))
struct RequestLogTests {
    private func items(_ answer: Answer) -> [[String: Any]] { answer.json["items"] as? [[String: Any]] ?? [] }

    @Test func eachCallIsShown() async throws {
        try await APIBench.serving { bench in
            try await bench.put("1")
            _ = try await bench.statuses("1", "?status=1")
            _ = try await bench.send(.GET, "/inApps/v1/subscriptions/2", authorization: "Bearer wrong")
            _ = try await bench.call(.POST, "/inApps/v1/notifications/history", #"{"startDate":1}"#)
            let items = items(try await bench.control(.GET, "requests"))
            #expect(items.map { $0["sequence"] as? Int } == [1, 2, 3])
            #expect(items.map { $0["method"] as? String } == ["GET", "GET", "POST"])
            #expect(items[0]["path"] as? String == "/inApps/v1/subscriptions/1")
            #expect(items[0]["at"] as? Int64 == bench.time.milliseconds())
            #expect(items.map { $0["query"] as? String } == ["status=1", nil, nil])
            #expect(items.map { $0["status"] as? Int } == [200, 401, 400])
            #expect(items.map { $0["authorized"] as? Bool } == [true, false, true])
            #expect(items.map { $0["body"] as? String } == [nil, nil, #"{"startDate":1}"#])
            #expect(try await bench.control(.DELETE, "requests").status == 204)
            let empty = try await bench.control(.GET, "requests")
            #expect(self.items(empty).isEmpty)
            #expect(empty.json["forgotten"] as? Int == 3)
        }
    }

    @Test func neverTheToken() async throws {
        try await APIBench.serving { bench in
            let token = try APIToken(at: bench.time.now).text()
            for header in ["Bearer \(token)", token] {
                _ = try await bench.call(
                    .POST, "/inApps/v1/notifications/history?token=\(token)", #"{"token":"\#(token)"}"#,
                    authorization: header)
            }
            let log = try await bench.control(.GET, "requests")
            #expect(items(log).count == 2)
            #expect(items(log).allSatisfy { $0["query"] as? String == "token=[token]" })
            #expect(!log.text.contains(token))
            #expect(!log.text.contains(token.split(separator: ".")[2]))
        }
    }

    @Test func inPagesAndBounded() async throws {
        try await APIBench.serving(keepRequests: 5) { bench in
            for number in 1...12 {
                _ = try await bench.send(.GET, "/\(number)", authorization: nil)
            }
            let first = try await bench.control(.GET, "requests?limit=3")
            #expect(items(first).map { $0["path"] as? String } == ["/8", "/9", "/10"])
            #expect(first.json["forgotten"] as? Int == 7)
            #expect(first.json["nextAfter"] as? Int == 10)
            let second = try await bench.control(.GET, "requests?after=10")
            #expect(items(second).map { $0["path"] as? String } == ["/11", "/12"])
            #expect(second.json["nextAfter"] == nil)
            for wrong in ["?after=-1", "?after=x", "?limit=0", "?limit=1001", "?limit=x"] {
                #expect(try await bench.control(.GET, "requests\(wrong)").status == 400, "\(wrong)")
            }
        }
    }

    @Test func longTextsAreCut() async throws {
        try await APIBench.serving { bench in
            let body = String(repeating: "a", count: 5_000)
            let answer = try await bench.call(.POST, "/inApps/v1/notifications/history", body)
            #expect(answer.errorCode == 4_000_000)
            let shown = items(try await bench.control(.GET, "requests")).first?["body"] as? String
            #expect(shown?.count == 4_096)
            let tooLarge = String(repeating: "a", count: 129 * 1_024)
            let refused = try await bench.call(.POST, "/inApps/v1/notifications/history", tooLarge)
            #expect(refused.errorCode == 4_000_000)
        }
    }
}
