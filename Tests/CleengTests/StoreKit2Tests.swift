import Hummingbird
import NIOCore
import ReceiverSupport
import Testing

import struct RelayCore.Identifier

@testable import Cleeng

/// StoreKit 2's calls, to a server with scripted answers.
struct StoreKit2Tests {
    private static let purchase = ConnectorPurchase(
        .storekit2("2000000111222333"), cleengCustomerId: 700_000_001, ipAddress: "203.0.113.9")
    private static let name = "00112233-4455-4677-8899-aabbccddeeff"

    private func send(
        _ transfers: Bool, _ body: String, _ status: HTTPResponse.Status,
        of purchase: ConnectorPurchase = purchase
    ) async throws -> (answer: ForwardAnswer, asked: Received) {
        let (answer, asked) = try await withHTTPServer { _ in
            json(body, status: status)
        } test: { url in
            try await withCleeng(url) { await $0.send(purchase, transfers: transfers, name: Self.name) }
        }
        return (answer, try #require(asked.first))
    }

    @Test(arguments: [
        (false, "/storekit2/purchases"), (true, "/storekit2/purchases/transfers"),
    ]) func aRequestHoldsWhatCleengWants(transfers: Bool, path: String) async throws {
        let (answer, asked) = try await send(transfers, #"{"synchronizationId":"6f1c1f0e"}"#, .accepted)
        #expect(answer.verdict == .accepted && answer.status == 202)
        #expect(answer.synchronization == "6f1c1f0e")
        #expect(asked.method == "POST" && asked.path == path)
        #expect(asked.headers["x-publisher-token"] == publisherToken)
        #expect(asked.headers["correlation-id"] == Self.name)
        #expect(asked.headers["content-type"] == "application/json")
        #expect(
            asked.body
                == #"{"transactionId":"2000000111222333","cleengCustomerId":700000001,"ipAddress":"203.0.113.9"}"#)
    }

    @Test func anAddressOfIPv6IsLeftOut() async throws {
        var purchase = Self.purchase
        purchase.ipAddress = "2001:db8::1"
        let asked = try await send(false, "{}", .accepted, of: purchase).asked
        #expect(!asked.body.contains("ipAddress"))
    }

    /// Only plain names become part of a path.
    @Test(arguments: ["{}", "not JSON", #"{"synchronizationId":"../x"}"#, #"{"synchronizationId":""}"#])
    func withoutCleengsNameOursCounts(body: String) async throws {
        #expect(try await send(false, body, .accepted).answer.synchronization == Self.name)
    }

    @Test(
        arguments: [
            (500, "SK2C0004", .misconfigured(message: "words")), (400, "REQ0004", .misconfigured(message: "words")),
            (401, "X", .misconfigured(message: "words")), (404, "X", .misconfigured(message: "words")),
            (400, "REQ0001", .rejected(code: "REQ0001", message: "words")),
            (422, "SK2C0100", .rejected(code: "SK2C0100", message: "words")),
            (422, "SK2C0005", .tryAgain(.conflict, retryAfter: nil)),
            (409, "SK2C0101", .tryAgain(.conflict, retryAfter: nil)),
            (500, "S0001", .tryAgain(.upstreamError, retryAfter: nil)),
            (429, "X", .tryAgain(.throttled, retryAfter: nil)),
        ] as [(Int, String, ForwardAnswer.Verdict)])
    func whatARefusalMeans(status: Int, code: String, verdict: ForwardAnswer.Verdict) async throws {
        let (answer, _) = try await send(
            true, #"{"code":"\#(code)","message":"words"}"#, HTTPResponse.Status(code: status))
        #expect(answer.verdict == verdict)
        #expect(answer.synchronization == nil)
    }

    @Test(
        arguments: [
            (200, #"{"status":"processing"}"#, .running("processing")),
            (200, #"{"status":"retrying"}"#, .running("retrying")),
            (
                200, #"{"status":"finalized","result":"OK","accessGranted":true,"offerId":"S1"}"#,
                .granted(evidence: #"{"offerId":"S1","result":"OK","source":"storekit2"}"#)
            ),
            (200, #"{"status":"finalized","accessGranted":true,"offerId":"S2"}"#, .grantedOther(offer: "S2")),
            (200, #"{"status":"finalized","accessGranted":false,"result":"NO"}"#, .refused(result: "no")),
            (200, #"{"status":"finalized","accessGranted":"true"}"#, .unclear),
            (200, #"{"status":"finalized","accessGranted":"false"}"#, .unclear),
            (200, #"{"status":"finalized","accessGranted":false,"result":7}"#, .unclear),
            (200, #"{"status":"finalized","accessGranted":false,"result":{"code":"NO"}}"#, .unclear),
            (200, #"{"status":"finalized","accessGranted":false}"#, .refused(result: "no_access")),
            (200, #"{"status":"finalized","accessGranted":true,"offerId":7}"#, .unclear),
            (200, #"{"status":"finalized","accessGranted":true,"offerId":["S1"]}"#, .unclear),
            (200, #"{"status":"of next year"}"#, .tryAgain(.unreadable, retryAfter: nil)),
            (200, "<html>", .tryAgain(.unreadable, retryAfter: nil)),
            (404, #"{"code":"REQ0100","message":"not found"}"#, .unknown),
            (404, "<html>", .misconfigured(message: nil)), (401, "{}", .misconfigured(message: nil)),
            (500, #"{"code":"SK2C0004"}"#, .misconfigured(message: "SK2C0004")),
            (503, "{}", .tryAgain(.upstreamError, retryAfter: nil)),
        ] as [(Int, String, SynchronizationAnswer.Verdict)])
    func howFarItIs(status: Int, body: String, verdict: SynchronizationAnswer.Verdict) async throws {
        let (answer, asked) = try await withHTTPServer { _ in
            json(body, status: HTTPResponse.Status(code: status))
        } test: { url in
            try await withCleeng(url) {
                await $0.synchronization(Self.name, of: .storekit2, offer: "S1", observedAt: Timestamp(seconds: 0))
            }
        }
        #expect(answer.verdict == verdict && answer.status == status)
        #expect(asked.first?.path == "/storekit2/purchases/synchronizations/\(Self.name)")
        #expect(asked.first?.headers["x-publisher-token"] == publisherToken)
    }

    @Test func noServerIsTriedAgain() async throws {
        let url = try await withRawServer([]) { $0 }
        let answer = try await withCleeng(url) {
            await $0.synchronization(Self.name, of: .storekit2, offer: "S1", observedAt: Timestamp(seconds: 0))
        }
        #expect(answer.verdict == .tryAgain(.connectionFailed, retryAfter: nil) && answer.status == nil)
    }
}
