import Foundation
import NIOHTTP1
import Testing

@testable import AppStoreSimulator

@Suite struct TestNotificationTests {
    private func requested(_ bench: APIBench) async throws -> String {
        let answer = try await bench.call(.POST, "/inApps/v1/notifications/test")
        #expect(answer.status == 200)
        return try #require(answer.json["testNotificationToken"] as? String)
    }

    private func status(_ token: String, _ bench: APIBench) async throws -> Answer {
        for _ in 0..<100 {
            let answer = try await bench.call(.GET, "/inApps/v1/notifications/test/\(token)")
            if answer.status != 404 { return answer }
            try await Task.sleep(for: .milliseconds(50))
        }
        return try await bench.call(.GET, "/inApps/v1/notifications/test/\(token)")
    }

    @Test func withoutAURLNoneIsSent() async throws {
        try await APIBench.serving { bench in
            let answer = try await bench.call(.POST, "/inApps/v1/notifications/test")
            #expect(answer.status == 404)
            #expect(answer.json["errorCode"] as? Int == 4_040_007)
            #expect(try await bench.control(.PUT, "notification-url", #"{"url":"nowhere"}"#).status == 400)
            #expect(try await bench.control(.POST, "notification-url").status == 405)
        }
    }

    @Test func whereItWentIsSaid() async throws {
        try await APIBench.serving { bench in
            // What is there knows no such address.
            #expect(
                try await bench.control(.PUT, "notification-url", #"{"url":"\#(bench.url)/nowhere"}"#).status == 204)
            let answer = try await status(try await requested(bench), bench)
            #expect(answer.status == 200)
            let attempts = answer.json["sendAttempts"] as? [[String: Any]]
            #expect(attempts?.first?["sendAttemptResult"] as? String == "UNSUCCESSFUL_HTTP_RESPONSE_CODE")
            #expect((answer.json["signedPayload"] as? String)?.split(separator: ".").count == 3)
            #expect(try await bench.control(.PUT, "notification-url", #"{"url":"http://127.0.0.1:9/"}"#).status == 204)
            let other = try await status(try await requested(bench), bench)
            #expect(
                (other.json["sendAttempts"] as? [[String: Any]])?.first?["sendAttemptResult"] as? String
                    == "NO_RESPONSE")
        }
    }

    @Test func anUnknownTokenIsNotFound() async throws {
        try await APIBench.serving { bench in
            let answer = try await bench.call(.GET, "/inApps/v1/notifications/test/none")
            #expect(answer.status == 404)
            #expect(answer.json["errorCode"] as? Int == 4_040_008)
            #expect(try await bench.call(.DELETE, "/inApps/v1/notifications/test/none").status == 405)
        }
    }
}
