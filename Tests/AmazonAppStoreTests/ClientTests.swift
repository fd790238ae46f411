import Foundation
import Hummingbird
import ReceiverSupport
import RelayCore
import StoreAPI
import StoreTestSupport
import TestRun
import Testing

@testable import AmazonAppStore

/// Contains characters that must be encoded in a path.
let sharedSecret = "2:smX/SECRET+0123?x"
let readAt = Timestamp(seconds: 1_790_000_000)

func withAmazon<Answer>(
    secret: String = sharedSecret, sandbox: Bool = false, timeout: Duration = .seconds(20),
    log: CapturedLog = CapturedLog(), _ test: (StoreProcess, AmazonReceiptClient) async throws -> Answer
) async throws -> Answer {
    let process = try await StoreProcess.start(["amazon", "--shared-secret", sharedSecret])
    defer { process.end() }
    let given = try #require(AmazonSecret(secret))
    return try await withStoreClient { http in
        try await test(
            process,
            AmazonReceiptClient(
                url: process.url + (sandbox ? "/sandbox" : ""), secret: given, timeout: timeout, httpClient: http,
                logger: log.logger))
    }
}

extension AmazonReceiptClient {
    fileprivate func receipt(_ receiptID: String, userID: String) async -> StoreAnswer<StoreSubscription> {
        await receipt(receiptID, userID: userID, readAt: AmazonAppStoreTests.readAt)
    }
}

@Suite("The client against the simulated Amazon Appstore, a process of its own", .timeLimit(.paced(minutes: 4)))
struct ClientTests {
    private let receipt = "q1Yq+VbJ/SSjH28YGPKChw9c0o8Sd4ocTpWQ4vv0J6KAE=:3:11"

    @Test func aReceiptIsFoundAndTheSecretIsSeenNowhere() async throws {
        let log = CapturedLog()
        try await withAmazon(log: log) { amazon, client in
            try await amazon.control("PUT", "subscriptions/r1", #"{"userId":"u/1","productId":"gold"}"#)
            guard case .found(let found) = await client.receipt("r1", userID: "u/1") else {
                Issue.record("not found")
                return
            }
            #expect(found.productID == "gold" && found.key == "r1" && found.ledgerKey == "amazon:r1")
            #expect(
                try await amazon.requests()
                    == ["GET /version/1.0/verifyReceiptId/developer/[secret]/user/u/1/receiptId/r1 good answered 200"])
            #expect(!"\(client)".contains("SECRET"))
            var dumped = ""
            dump(AmazonSecret(sharedSecret), to: &dumped)
            #expect(!dumped.contains("SECRET"))
        }
        #expect(!log.lines.isEmpty)
        #expect(log.lines.allSatisfy { $0.hasPrefix("debug") && !$0.contains("SECRET") && !$0.contains("r1") })
    }

    @Test func eachRefusalIsWhatItIs() async throws {
        try await withAmazon { amazon, client in
            #expect(await client.receipt(receipt, userID: "u") == .notAPurchase("invalid"))
            try await amazon.control("PUT", "subscriptions/r1", #"{"userId":"u"}"#)
            #expect(await client.receipt("r1", userID: "other") == .notAPurchase("user"))
            try await amazon.control("POST", "subscriptions/r1/forget")
            #expect(await client.receipt("r1", userID: "u") == .notAPurchase("gone"))
            for (receipt, user) in [("", "u"), ("..", "u"), ("r", ""), (String(repeating: "x", count: 3_000), "u")] {
                #expect(await client.receipt(receipt, userID: user) == .notAPurchase("invalid"))
            }
        }
        try await withAmazon(secret: "wrong") { _, client in
            #expect(await client.receipt("r1", userID: "u") == .misconfigured("the shared secret is refused"))
        }
        // The sandbox accepts any secret.
        try await withAmazon(secret: "wrong", sandbox: true) { amazon, client in
            try await amazon.control("PUT", "subscriptions/r1", #"{"userId":"u","testTransaction":true}"#)
            guard case .found = await client.receipt("r1", userID: "u") else {
                Issue.record("not found")
                return
            }
        }
    }

    @Test func aLifeIsSeenAsItGoes() async throws {
        try await withAmazon { amazon, client in
            try await amazon.control("PUT", "subscriptions/r1", #"{"userId":"u"}"#)
            for (act, state, word) in [
                ("cancel", StoreState.canceled, "Customer"), ("renew", .active, ""), ("grace", .inGrace, ""),
                ("renew", .active, ""), ("refund", .expired, "Customer"),
            ] {
                try await amazon.control("POST", "subscriptions/r1/\(act)")
                guard case .found(let seen) = await client.receipt("r1", userID: "u", readAt: Self.now())
                else {
                    Issue.record("\(act)")
                    return
                }
                #expect(seen.state == state, "\(act)")
                #expect(seen.cancellation?.reason.rawValue ?? "" == word, "\(act)")
            }
            await #expect(throws: StoreProcess.Fault.self) {
                try await amazon.control("POST", "subscriptions/r1/pause")
            }
        }
    }

    private static func now() -> Timestamp {
        // The simulator uses the machine's clock.
        Timestamp(seconds: Int64(Date().timeIntervalSince1970) + 1)
    }

    @Test func troubleIsPassing() async throws {
        try await withAmazon(timeout: .seconds(10)) { amazon, client in
            try await amazon.control("PUT", "trouble", #"{"status":429,"retryAfter":"7","times":1}"#)
            #expect(await client.receipt("r", userID: "u") == .tryAgain("HTTP 429", retryAfter: .seconds(7)))
            try await amazon.control("PUT", "trouble", #"{"status":500,"times":1}"#)
            #expect(await client.receipt("r", userID: "u") == .tryAgain("HTTP 500", retryAfter: nil))
            try await amazon.control("PUT", "trouble", #"{"reset":true,"times":1}"#)
            #expect(await client.receipt("r", userID: "u") == .tryAgain("connection_closed", retryAfter: nil))
            try await amazon.control("PUT", "trouble", #"{"status":200,"body":"nonsense","times":1}"#)
            #expect(await client.receipt("r", userID: "u") == .tryAgain("unreadable", retryAfter: nil))
            try await amazon.control("PUT", "trouble", #"{"delayMilliseconds":20,"times":1}"#)
            #expect(await client.receipt("r", userID: "u") == .notAPurchase("invalid"))
            try await amazon.control("PUT", "trouble", #"{"hang":true,"times":1}"#)
            #expect(await client.receipt("r", userID: "u") == .tryAgain("timeout", retryAfter: nil))
        }
    }

    private func ask(
        _ log: CapturedLog = CapturedLog(), respond: @escaping @Sendable (Received) -> Response
    ) async throws -> (StoreAnswer<StoreSubscription>, [Received]) {
        let secret = try #require(AmazonSecret(sharedSecret))
        return try await withHTTPServer {
            respond($0)
        } test: { url in
            try await withStoreClient { http in
                await AmazonReceiptClient(
                    url: url, secret: secret, timeout: .seconds(20), httpClient: http, logger: log.logger
                ).receipt("a/../b?c", userID: "u#1")
            }
        }
    }

    @Test(arguments: [301, 302, 307, 404, 403, 204]) func aWrongEndpointIsMisconfigured(status: Int) async throws {
        let (said, received) = try await ask { request in
            status == 204
                ? Response(status: .noContent)
                : json(request.path, status: .init(code: status), headers: [.location: "/stolen"])
        }
        #expect(said == .misconfigured("HTTP \(status)"))
        #expect(
            received.map(\.path) == [
                "/version/1.0/verifyReceiptId/developer/2%3AsmX%2FSECRET%2B0123%3Fx/user/u%231/receiptId/a%2F..%2Fb%3Fc"
            ])
    }

    @Test func aBodyBeyondTheBoundIsNotRead() async throws {
        let (said, _) = try await ask { _ in json("{\"x\":\"\(String(repeating: "x", count: 100_000))\"}") }
        #expect(said == .tryAgain("response_too_large", retryAfter: nil))
    }

    @Test func anAnswerAboutAnotherReceiptIsNone() async throws {
        let (said, _) = try await ask { _ in
            json(#"{"productId":"gold","productType":"SUBSCRIPTION","receiptId":"another"}"#)
        }
        #expect(said == .tryAgain("unreadable", retryAfter: nil))
    }

    @Test func aServerThatTricklesEndsByTheDeadline() async throws {
        let secret = try #require(AmazonSecret(sharedSecret))
        let said = try await withRawServer([.write("HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n"), .trickle]) {
            url in
            try await withStoreClient { http in
                await AmazonReceiptClient(
                    url: url, secret: secret, timeout: .seconds(2), httpClient: http, logger: CapturedLog().logger
                ).receipt("r", userID: "u")
            }
        }
        #expect(said == .tryAgain("timeout", retryAfter: nil))
    }
}
