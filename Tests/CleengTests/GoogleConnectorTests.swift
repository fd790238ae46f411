import Hummingbird
import NIOCore
import ReceiverSupport
import Testing

import struct RelayCore.ExternalStoreQuery
import struct RelayCore.Identifier

@testable import Cleeng

/// The Google Play connector's calls, to a server with scripted answers.
struct GoogleConnectorTests {
    private static let purchase = ConnectorPurchase(
        .google(ExternalStoreQuery(.google, id: "token-1", detail: "com.example.app", product: "gold")),
        cleengCustomerId: 700_000_001, ipAddress: "203.0.113.9")
    private static let name = "00112233-4455-4677-8899-aabbccddeeff"

    private func send(
        _ body: String, _ status: HTTPResponse.Status, transfers: Bool = false
    ) async throws -> (answer: ForwardAnswer, asked: Received) {
        let (answer, asked) = try await withHTTPServer { _ in
            json(body, status: status)
        } test: { url in
            try await withCleeng(url) { await $0.send(Self.purchase, transfers: transfers, name: Self.name) }
        }
        return (answer, try #require(asked.first))
    }

    @Test(arguments: [(false, "/google/purchases"), (true, "/google/purchases/transfers")])
    func aRequestHoldsWhatCleengWants(transfers: Bool, path: String) async throws {
        let (answer, asked) = try await send(#"{"synchronizationId":"6f1c1f0e"}"#, .accepted, transfers: transfers)
        #expect(answer.verdict == .accepted && answer.synchronization == "6f1c1f0e")
        #expect(asked.method == "POST" && asked.path == path)
        #expect(asked.headers["x-publisher-token"] == publisherToken)
        #expect(asked.headers["correlation-id"] == Self.name)
        let google = #""purchaseToken":"token-1","packageName":"com.example.app","productId":"gold""#
        let customer = #""productType":"subscription","cleengCustomerId":700000001,"ipAddress":"203.0.113.9""#
        #expect(asked.body == "{\(google),\(customer)}")
    }

    @Test(
        arguments: [
            (409, #"{"code":"X","synchronizationId":"a-1"}"#, .duplicate, "a-1"),
            (409, #"{"code":"X","message":"words"}"#, .tryAgain(.conflict, retryAfter: nil), nil),
            (409, #"{"synchronizationId":"../x"}"#, .tryAgain(.conflict, retryAfter: nil), nil),
            (200, #"{"synchronizationId":"a-1","status":"finalized","accessGranted":true}"#, .duplicate, "a-1"),
            (202, #"{"synchronizationId":"a-1","result":"OF_NEXT_YEAR"}"#, .duplicate, "a-1"),
            (202, #"{"synchronizationId":"a-1","status":"processing"}"#, .accepted, "a-1"),
            (200, #"{"synchronizationId":"a-1","status":"processing"}"#, .duplicate, "a-1"),
            (200, "{}", .accepted, nil),
            (200, #"{"synchronizationId":"\#(name)","status":"finalized"}"#, .accepted, name),
            (202, "not JSON", .accepted, nil),
            (400, #"{"code":"REQ0001","message":"words"}"#, .rejected(code: "REQ0001", message: "words"), nil),
            (400, #"{"code":"REQ0004","message":"words"}"#, .misconfigured(message: "words"), nil),
            (500, #"{"code":"GPBC0004","message":"words"}"#, .misconfigured(message: "words"), nil),
            (422, #"{"code":"GPBC0005"}"#, .tryAgain(.conflict, retryAfter: nil), nil),
            (422, #"{"code":"GPBC0100","message":"words"}"#, .rejected(code: "GPBC0100", message: "words"), nil),
            (503, "{}", .tryAgain(.upstreamError, retryAfter: nil), nil),
        ] as [(Int, String, ForwardAnswer.Verdict, String?)])
    func whatAnAnswerMeans(
        status: Int, body: String, verdict: ForwardAnswer.Verdict, synchronization: String?
    ) async throws {
        let (answer, _) = try await send(body, HTTPResponse.Status(code: status))
        #expect(answer.verdict == verdict && answer.synchronization == synchronization)
    }

    @Test(
        arguments: [
            (
                #"{"status":"finalized","result":"OF_NEXT_YEAR","accessGranted":true,"offerId":"S1"}"#,
                .granted(evidence: #"{"offerId":"S1","result":"OF_NEXT_YEAR","source":"google_v2"}"#)
            ),
            (#"{"status":"finalized","accessGranted":false,"result":"NEXT_YEAR"}"#, .refused(result: "next_year")),
            (#"{"status":"retrying"}"#, .running("retrying")),
        ] as [(String, SynchronizationAnswer.Verdict)])
    func howFarItIs(body: String, verdict: SynchronizationAnswer.Verdict) async throws {
        let (answer, asked) = try await withHTTPServer { _ in
            json(body, status: .ok)
        } test: { url in
            try await withCleeng(url) {
                await $0.synchronization(Self.name, of: .google, offer: "S1", observedAt: Timestamp(seconds: 0))
            }
        }
        #expect(answer.verdict == verdict)
        #expect(asked.first?.path == "/google/purchases/synchronizations/\(Self.name)")
    }

    /// A purchase that was accepted while the address was set waits until it is set again.
    @Test func withoutAnAddressNothingIsSentOrRejected() async throws {
        let (answers, asked) = try await withHTTPServer { _ in
            json("{}", status: .ok)
        } test: { url in
            try await withCleeng(url, connects: false) {
                (
                    await $0.send(Self.purchase, transfers: false, name: Self.name),
                    await $0.synchronization(Self.name, of: .google, offer: "S1", observedAt: Timestamp(seconds: 0))
                )
            }
        }
        guard case .misconfigured(let message) = answers.0.verdict, case .misconfigured = answers.1.verdict else {
            Issue.record("\(answers)")
            return
        }
        #expect(message?.contains("RELAY_CLEENG_GOOGLE_URL") == true && asked.isEmpty)
    }
}
