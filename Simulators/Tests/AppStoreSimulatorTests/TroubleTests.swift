import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import TestRun
import Testing

@testable import AppStoreSimulator

@Suite("What befalls calls to the simulated API", .timeLimit(.paced(minutes: 4)))
struct TroubleTests {
    @Test func tooManyCalls() async throws {
        try await APIBench.serving { bench in
            try await bench.put("1")
            let told = #"{"status":429,"retryAfterMilliseconds":5000,"times":2}"#
            #expect(try await bench.control(.PUT, "trouble", told).status == 204)
            for seconds in [5.0, 6] {
                let answer = try await bench.statuses("1")
                #expect(answer.status == 429)
                #expect(answer.errorCode == 4_290_000)
                #expect(answer.headers["retry-after"] == "\(bench.time.milliseconds(5))", "\(seconds)")
                bench.time.advance(1)
            }
            #expect(try await bench.statuses("1").status == 200)
            try await bench.control(.PUT, "trouble", #"{"status":429}"#)
            #expect(try await bench.statuses("1").headers["retry-after"] == "\(bench.time.milliseconds(1))")
        }
    }

    @Test func anAnswerOfItsOwn() async throws {
        try await APIBench.serving { bench in
            try await bench.put("1")
            for (told, status, code) in [
                (#"{"status":500}"#, 500, 5_000_000), (#"{"status":503}"#, 503, nil), (#"{"status":401}"#, 401, nil),
                (#"{"status":404,"errorCode":4040002}"#, 404, 4_040_002),
            ] as [(String, Int, Int?)] {
                try await bench.control(.PUT, "trouble", told)
                for _ in 1...3 {
                    let answer = try await bench.statuses("1")
                    #expect(answer.status == status)
                    #expect(answer.errorCode == code)
                    #expect(answer.headers["retry-after"] == nil)
                }
                #expect(try await bench.history().status == status)
            }
            #expect(try await bench.control(.DELETE, "trouble").status == 204)
            #expect(try await bench.statuses("1").status == 200)
        }
    }

    @Test func noAnswer() async throws {
        try await APIBench.serving { bench in
            try await bench.put("1")
            let token = try "Bearer \(APIToken(at: bench.time.now).text())"
            try await bench.control(.PUT, "trouble", #"{"hang":true,"times":1}"#)
            await #expect(throws: HTTPClientError.deadlineExceeded) {
                try await bench.send(
                    .GET, "/inApps/v1/subscriptions/1", authorization: token, timeout: .seconds(3))
            }
            try await bench.control(.PUT, "trouble", #"{"reset":true,"times":1}"#)
            await #expect(throws: (any Error).self) {
                try await bench.send(.GET, "/inApps/v1/subscriptions/1", authorization: token)
            }
            #expect(try await bench.statuses("1").status == 200)
            let items = try await bench.control(.GET, "requests").json["items"] as? [[String: Any]]
            #expect(items?.map { $0["outcome"] as? String } == ["hung", "reset", "answered"])
            #expect(items?.map { $0["status"] as? Int } == [nil, nil, 200])
        }
    }

    @Test(arguments: [
        "", "{}", #"{"status":200}"#, #"{"status":600}"#, #"{"status":500,"hang":true}"#, #"{"hang":false}"#,
        #"{"hang":true,"reset":true}"#, #"{"hang":true,"errorCode":5000001}"#, #"{"status":500,"errorCode":1}"#,
        #"{"reset":true,"retryAfterMilliseconds":1}"#, #"{"status":429,"retryAfterMilliseconds":-1}"#,
        #"{"status":429,"retryAfterMilliseconds":86400001}"#, #"{"status":500,"times":0}"#,
        #"{"status":500,"times":1000001}"#, #"{"status":500,"time":1}"#,
    ])
    func noTrouble(body: String) async throws {
        try await APIBench.serving { bench in
            #expect(try await bench.control(.PUT, "trouble", body).status == 400)
            try await bench.put("1")
            #expect(try await bench.statuses("1").status == 200)
        }
    }
}
