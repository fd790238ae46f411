import AppStoreSimulation
import ArgumentParser
import Foundation
import TestRun
import Testing

@testable import AppStoreSimulator

@Suite("notify and play tell the simulated API", .timeLimit(.paced(minutes: 4)))
struct SimulatedAPIClientTests {
    private static let nobody = "http://127.0.0.1:1"

    private func player(to url: String, api: String?, period: TimeInterval = 100) throws -> LifePlayer {
        let authority = try APIBench.authority.get()
        return LifePlayer(
            life: SimulatedSubscription(firstTransactionId: 1, period: period), transactions: authority,
            receipts: authority, url: url, api: api.map { SimulatedAPIClient(url: $0) })
    }

    /// With authorities of its own, in a folder.
    private func notify(_ arguments: [String]) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try APIBench.authority.get().write(to: folder, name: "transactions")
        try await Notify.parse(["--roots", folder.path] + arguments).run()
    }

    @Test func aLifeIsToldToBoth() async throws {
        try await APIBench.serving { relay in
            try await APIBench.serving { bench in
                var player = try player(to: relay.url + "/_simulator/notifications", api: bench.url + "/")
                #expect(try await player.answer("buy") == "SUBSCRIBED INITIAL_BUY HTTP 200")
                #expect(try await bench.statuses("1").items.first?["status"] as? Int == 1)
                #expect(try await player.answer("fail grace") == "DID_FAIL_TO_RENEW GRACE_PERIOD HTTP 200")
                let item = try #require(try await bench.statuses("1").items.first)
                #expect(Answer.payload(item["signedRenewalInfo"])["isInBillingRetryPeriod"] as? Bool == true)
                #expect(try await player.answer("refund") == "REFUND HTTP 200")
                #expect(try await bench.statuses("1").items.first?["status"] as? Int == 5)
                #expect(try await bench.history().names.count == 3)
                #expect(try await bench.history().names == relay.history().names)
                #expect(try await bench.history(#","onlyFailures":true"#).names.isEmpty)
            }
        }
    }

    @Test func whatIsLostIsKnownToTheAPIOnly() async throws {
        try await APIBench.serving { relay in
            try await APIBench.serving { bench in
                var player = try player(to: relay.url + "/_simulator/notifications", api: bench.url, period: 1)
                #expect(try await player.answer("buy") == "SUBSCRIBED INITIAL_BUY HTTP 200")
                #expect(try await player.answer("renew --lost") == "DID_RENEW lost")
                #expect(player.wasTaken)
                #expect(try await relay.history().names.count == 1)
                #expect(try await bench.history().names.count == 2)
                let failures = try await bench.history(#","onlyFailures":true"#).history
                let attempts = try #require(failures.first?["sendAttempts"] as? [[String: Any]])
                #expect(attempts.map { $0["sendAttemptResult"] as? String } == ["NO_RESPONSE"])
                let item = try #require(try await bench.statuses("1").items.first)
                #expect(Answer.payload(item["signedTransactionInfo"])["transactionId"] as? String == "2")
                #expect(try await player.answer("help --lost") == "error: only a notification can be lost")
            }
        }
    }

    @Test func withoutAnAPINothingCanBeLost() async throws {
        var player = try player(to: Self.nobody, api: nil)
        #expect(try await player.answer("buy --lost") == "error: --lost needs --api")
        #expect(try await player.answer("renew") == "error: nothing was bought yet")
        #expect(throws: (any Error).self) { try Notify.parse(["--roots", "a", "--type", "TEST", "--lost"]) }
        #expect(throws: (any Error).self) { try Notify.parse(["--roots", "a", "--type", "TEST"]) }
        #expect(throws: (any Error).self) {
            try Notify.parse(["--roots", "a", "--type", "TEST", "--lost", "--api", "ftp://a"])
        }
    }

    @Test func anAPIThatDoesNotHearIsSaid() async throws {
        try await APIBench.serving { relay in
            let to = relay.url + "/_simulator/notifications"
            // There nobody is told anything without a token.
            let deaf = relay.url + "/away"
            var player = try player(to: to, api: deaf)
            #expect(try await player.answer("buy") == "SUBSCRIBED INITIAL_BUY HTTP 200 (--api: HTTP 401)")
            #expect(!player.wasTaken)
            await #expect(throws: SimulatedAPIClient.Refused.self) {
                try await notify(
                    ["--api", deaf, "--to", to, "--type", "DID_RENEW", "--original-transaction-id", "7"])
            }
            #expect(try await relay.history().names.count == 1, "the API is told before the relay")
        }
    }

    @Test func eachAttemptOfNotifyIsTold() async throws {
        try await APIBench.serving { bench in
            let arguments = ["--api", bench.url, "--original-transaction-id", "7", "--transaction-id", "8"]
            // There nobody takes notifications without a token.
            let refused = ["--to", bench.url + "/away", "--retry-seconds", "0,0", "--type", "EXPIRED"]
            await #expect(throws: (any Error).self) { try await notify(arguments + refused) }
            let attempts = try #require(try await bench.history().history.first?["sendAttempts"] as? [[String: Any]])
            let results = attempts.map { $0["sendAttemptResult"] as? String }
            #expect(results == Array(repeating: "UNSUCCESSFUL_HTTP_RESPONSE_CODE", count: 3))
            bench.time.advance(60)
            #expect(try await bench.statuses("8").items.first?["status"] as? Int == 2)
            try await notify(arguments + ["--lost", "--type", "REFUND"])
            #expect(try await bench.statuses("7").items.first?["status"] as? Int == 5)
            try await notify(["--api", bench.url, "--lost", "--type", "TEST"])
            #expect(try await bench.history().names.count == 3)
        }
    }

    @Test func aStatusThatDoesNotFollowIsSaid() async throws {
        try await APIBench.serving { bench in
            try await notify([
                "--api", bench.url, "--lost", "--type", "EXPIRED", "--original-transaction-id", "7", "--expires-in",
                "1000",
            ])
            #expect(try await bench.statuses("7").items.first?["status"] as? Int == 2)
        }
    }
}
