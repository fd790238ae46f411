import AppStoreSimulation
import Foundation
import NIOHTTP1
import TestRun
import Testing

@testable import AppStoreSimulator

@Suite("What was told, asked of the App Store Server API", .timeLimit(.paced(minutes: 4)))
struct NotificationHistoryTests {
    private static let path = "/inApps/v1/notifications/history"

    private func uuids(_ names: Int...) -> [String] { names.map { APIBench.uuid($0) } }

    @Test func aPageAfterAnotherOldestFirst() async throws {
        try await APIBench.serving(pageSize: 2) { bench in
            for (name, seconds) in [(3, 30.0), (1, 10), (5, 50), (2, 20), (4, 30)] {
                #expect(try await bench.add(bench.notification(name, at: seconds)).status == 200)
            }
            var pages: [[String]] = []
            var page = try await bench.history()
            pages.append(page.names)
            while page.json["hasMore"] as? Bool == true {
                page = try await bench.history(token: page.json["paginationToken"] as? String)
                pages.append(page.names)
            }
            // The third and the fourth were signed at once: in the order in which they came.
            #expect(pages == [uuids(1, 2), uuids(3, 4), uuids(5)])
            let token = try #require(page.json["paginationToken"] as? String)
            #expect(try await bench.history(token: token).names.isEmpty)
            try await bench.add(bench.notification(6, at: 60))
            #expect(try await bench.history(token: token).names == uuids(6))
        }
    }

    @Test func aPageThatIsJustFullIsTheLast() async throws {
        try await APIBench.serving(pageSize: 2) { bench in
            for name in 1...2 { try await bench.add(bench.notification(name)) }
            #expect(try await bench.history().json["hasMore"] as? Bool == false)
        }
    }

    @Test func fromTheFirstDateToBeforeTheSecond() async throws {
        try await APIBench.serving { bench in
            for name in 1...3 { try await bench.add(bench.notification(name, at: Double(name))) }
            let body = #"{"startDate":\#(bench.time.milliseconds(1)),"endDate":\#(bench.time.milliseconds(3))}"#
            #expect(try await bench.call(.POST, Self.path, body).names == uuids(1, 2))
        }
    }

    @Test func theVeryTextWithItsAttempts() async throws {
        try await APIBench.serving { bench in
            let told = try bench.notification(1)
            let body = try APIBench.authority.get().sign(told)
            let text = String(decoding: body, as: UTF8.self)
            let added = try await bench.control(.POST, "notifications?sendAttemptResult=TIMED_OUT", text)
            #expect(added.json["notificationUUID"] as? String == APIBench.uuid(1))
            #expect(added.json["signedDate"] as? Int64 == bench.time.milliseconds())
            #expect(added.json["transactionIds"] as? [String] == ["1", "11"])
            bench.time.advance(5)
            try await bench.control(.POST, "notifications", text)
            let item = try #require(try await bench.history().history.first)
            #expect(try await bench.history().history.count == 1)
            #expect(text.contains(try #require(item["signedPayload"] as? String)))
            let attempts = try #require(item["sendAttempts"] as? [[String: Any]])
            #expect(attempts.map { $0["sendAttemptResult"] as? String } == ["TIMED_OUT", "SUCCESS"])
            #expect(
                attempts.map { $0["attemptDate"] as? Int64 } == [
                    bench.time.milliseconds(-5), bench.time.milliseconds(),
                ])
            for _ in 1...6 { try await bench.control(.POST, "notifications", text) }
            let all = try await bench.history().history.first?["sendAttempts"] as? [Any]
            #expect(all?.count == 6)
        }
    }

    @Test func onlyWhatIsAskedFor() async throws {
        try await APIBench.serving { bench in
            try await bench.add(bench.notification(1, about: "1"))
            try await bench.add(bench.notification(2, type: "EXPIRED", about: "2"), "?sendAttemptResult=NO_RESPONSE")
            try await bench.add(bench.notification(3, type: "TEST", about: nil))
            try await bench.put("2", #","transactionId":"77""#)
            #expect(try await bench.history().names == uuids(1, 2, 3))
            #expect(try await bench.history(#","transactionId":"1""#).names == uuids(1))
            #expect(try await bench.history(#","transactionId":"11""#).names == uuids(1))
            #expect(try await bench.history(#","transactionId":"77""#).names == uuids(2), "another of its transactions")
            #expect(try await bench.history(#","transactionId":"9""#).names.isEmpty)
            #expect(try await bench.history(#","notificationType":"EXPIRED""#).names == uuids(2))
            let type = #","notificationType":"EXPIRED","notificationSubtype":"#
            #expect(try await bench.history(type + #""VOLUNTARY""#).names == uuids(2))
            #expect(try await bench.history(type + #""BILLING_RETRY""#).names.isEmpty)
            #expect(try await bench.history(#","onlyFailures":true"#).names == uuids(2))
            #expect(try await bench.history(#","onlyFailures":false"#).names == uuids(1, 2, 3))
            try await bench.add(bench.notification(2, type: "EXPIRED", about: "2"))
            #expect(try await bench.history(#","onlyFailures":true"#).names.isEmpty, "taken at last")
        }
    }

    @Test func theOtherServersAreNotTold() async throws {
        try await APIBench.serving { bench in
            try await bench.add(bench.notification(1))
            try await bench.add(bench.notification(2, environment: "Production"))
            try await bench.add(bench.notification(3, bundleId: "com.example.other"))
            #expect(try await bench.history().names == uuids(1))
        }
        try await APIBench.serving(environment: "Production") { bench in
            try await bench.add(bench.notification(1))
            try await bench.add(bench.notification(2, environment: "Production"))
            #expect(try await bench.history().names == uuids(2))
        }
    }

    @Test func whatCannotBeAsked() async throws {
        try await APIBench.serving { bench in
            let now = bench.time.milliseconds()
            let reach: Int64 = 180 * 86_400_000
            for (body, code) in [
                ("", 4_000_000), ("[]", 4_000_000), (#"{"startDate":1"#, 4_000_000),
                (#"{"endDate":\#(now)}"#, 4_000_015), (#"{"startDate":"1","endDate":\#(now)}"#, 4_000_015),
                (#"{"startDate":-1,"endDate":\#(now)}"#, 4_000_015), (#"{"startDate":\#(now)}"#, 4_000_016),
                (#"{"startDate":\#(now),"endDate":9e99}"#, 4_000_016),
                (#"{"startDate":\#(now),"endDate":\#(now - 1)}"#, 4_000_013),
                (#"{"startDate":\#(now),"endDate":\#(now)}"#, 4_000_013),
                (#"{"startDate":\#(now - reach - 1),"endDate":\#(now)}"#, 4_000_012),
            ] {
                let answer = try await bench.call(.POST, Self.path, body)
                #expect(answer.status == 400, "\(body)")
                #expect(answer.errorCode == code, "\(body)")
            }
            let far = #"{"startDate":\#(now - reach),"endDate":\#(now)}"#
            #expect(try await bench.call(.POST, Self.path, far).status == 200)
            for (more, code) in [
                (#","transactionId":"abc""#, 4_000_006), (#","notificationSubtype":"VOLUNTARY""#, 4_000_018),
                (#","transactionId":"1","notificationType":"EXPIRED""#, 4_000_019),
                (#","onlyFailures":"yes""#, 4_000_000),
            ] {
                #expect(try await bench.history(more).errorCode == code, "\(more)")
            }
            #expect(try await bench.call(.GET, Self.path).headers["allow"] == "POST")
        }
    }

    @Test func aTokenGoesWithItsRequestOnly() async throws {
        try await APIBench.serving(pageSize: 1) { bench in
            for name in 1...2 { try await bench.add(bench.notification(name)) }
            let token = try #require(try await bench.history().json["paginationToken"] as? String)
            #expect(try await bench.history(token: token).names == uuids(2))
            #expect(try await bench.history(#","onlyFailures":true"#, token: token).errorCode == 4_000_014)
            for wrong in ["", "abc", "1-2", "1-2-3", "1-2-3-4", "x\(token)"] {
                #expect(try await bench.history(token: wrong).errorCode == 4_000_014, "\(wrong)")
            }
        }
    }
}
