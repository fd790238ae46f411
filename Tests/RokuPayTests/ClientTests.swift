import Foundation
import Hummingbird
import ReceiverSupport
import RelayCore
import StoreAPI
import StoreTestSupport
import TestRun
import Testing

@testable import RokuPay

/// Contains characters that must be encoded in a path.
let apiKey = "SECRET/0123?456789abcdef"

func withRoku<Answer>(
    key: String = apiKey, timeout: Duration = .seconds(20), log: CapturedLog = CapturedLog(),
    _ test: (StoreProcess, RokuTransactionClient) async throws -> Answer
) async throws -> Answer {
    let process = try await StoreProcess.start(["roku", "--api-key", apiKey])
    defer { process.end() }
    let given = try #require(RokuAPIKey(key))
    return try await withStoreClient { http in
        try await test(
            process,
            RokuTransactionClient(url: process.url, key: given, timeout: timeout, httpClient: http, logger: log.logger))
    }
}

extension RokuTransactionClient {
    fileprivate func transaction(_ id: String) async -> StoreAnswer<StoreSubscription> {
        // The simulator uses the machine's clock.
        await transaction(id, readAt: Timestamp(seconds: Int64(Date().timeIntervalSince1970) + 1))
    }
}

@Suite("The client against the simulated Roku, a process of its own", .timeLimit(.paced(minutes: 4)))
struct ClientTests {
    @Test func aTransactionIsFoundAndTheKeyIsSeenNowhere() async throws {
        let log = CapturedLog()
        try await withRoku(log: log) { roku, client in
            try await roku.control("PUT", "subscriptions/o1", #"{"productId":"gold"}"#)
            try await roku.control("POST", "subscriptions/o1/renew", #"{"transactionId":"r1"}"#)
            for id in ["o1", "r1"] {
                guard case .found(let found) = await client.transaction(id) else {
                    Issue.record("not found")
                    return
                }
                #expect(found.productID == "gold" && found.key == "o1" && found.ledgerKey == "roku:o1")
            }
            let path = "/listen/transaction-service.svc/validate-transaction/[key]"
            #expect(
                try await roku.requests() == [
                    "GET \(path)/o1 good answered 200", "GET \(path)/r1 good answered 200",
                ])
            #expect(!"\(client)".contains("SECRET"))
            var dumped = ""
            dump(RokuAPIKey(apiKey), to: &dumped)
            #expect(!dumped.contains("SECRET"))
        }
        #expect(!log.lines.isEmpty)
        #expect(log.lines.allSatisfy { $0.hasPrefix("debug") && !$0.contains("SECRET") && !$0.contains("o1") })
    }

    @Test func eachRefusalIsWhatItIs() async throws {
        try await withRoku { roku, client in
            #expect(await client.transaction("o1") == .notAPurchase("unknown"))
            for id in ["", "..", String(repeating: "x", count: 3_000)] {
                #expect(await client.transaction(id) == .notAPurchase("invalid"))
            }
            for (body, answer) in [
                ("{}", StoreAnswer<StoreSubscription>.tryAgain("unreadable", retryAfter: nil)),
                ("[", .tryAgain("unreadable", retryAfter: nil)),
                (
                    #"{"status":1,"errorMessage":"Of next year"}"#,
                    .misconfigured("it refuses in words that the relay does not know")
                ),
                (#"{"status":"Failure","errorMessage":"Internal error"}"#, .tryAgain("refused", retryAfter: nil)),
            ] {
                try await roku.control("PUT", "answers/o1", body)
                #expect(await client.transaction("o1") == answer, "\(body)")
            }
        }
        try await withRoku(key: "wrong") { _, client in
            #expect(await client.transaction("o1") == .misconfigured("the API key is refused"))
        }
    }

    @Test(arguments: [
        (503, StoreAnswer<StoreSubscription>.tryAgain("HTTP 503", retryAfter: .seconds(7))),
        (429, .tryAgain("HTTP 429", retryAfter: .seconds(7))), (403, .misconfigured("the API key is refused")),
        (400, .misconfigured("HTTP 400")), (404, .misconfigured("HTTP 404")), (301, .misconfigured("HTTP 301")),
    ])
    func aStatusIsWhatItIs(_ status: Int, _ answer: StoreAnswer<StoreSubscription>) async throws {
        try await withRoku { roku, client in
            try await roku.control("PUT", "trouble", #"{"status":\#(status),"retryAfter":"7"}"#)
            #expect(await client.transaction("o1") == answer)
        }
    }

    @Test func aMissingAnswerIsRetried() async throws {
        try await withRoku(timeout: .milliseconds(300)) { roku, client in
            try await roku.control("PUT", "trouble", #"{"hang":true}"#)
            guard case .tryAgain = await client.transaction("o1") else {
                Issue.record("an answer")
                return
            }
        }
    }

    @Test func aLifeIsSeenAsItGoes() async throws {
        try await withRoku { roku, client in
            try await roku.control("PUT", "subscriptions/o1", "{}")
            for (act, state) in [
                ("cancel", StoreState.canceled), ("resubscribe", .active), ("grace", .inGrace), ("renew", .active),
                ("hold", .onHold), ("renew", .active), ("refund", .expired),
            ] {
                try await roku.control("POST", "subscriptions/o1/\(act)")
                guard case .found(let seen) = await client.transaction("o1") else {
                    Issue.record("\(act)")
                    return
                }
                #expect(seen.state == state, "\(act)")
            }
        }
    }
}
