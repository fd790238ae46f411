import Hummingbird
import NIOCore
import ReceiverSupport
import Testing

import struct RelayCore.Identifier

@testable import Cleeng

struct EntitlementReadTests {
    private let email: EmailAddress = "ana+tv@example.test"

    private func page(_ offset: Int, of total: Int) -> Response {
        let items = (offset..<min(offset + 100, total)).map {
            #"{"offerId":"S\#($0)_US","status":"active","expiresAt":null}"#
        }
        return json(#"{"items":[\#(items.joined(separator: ","))],"totalItemCount":\#(total)}"#)
    }

    private func offset(_ query: String) -> Int {
        query.split(separator: "&").first { $0.hasPrefix("offset=") }.flatMap { Int($0.dropFirst(7)) } ?? -1
    }

    @Test func theReadSetsEveryParameterWithoutAFixedDefault() async throws {
        let log = CapturedLog()
        let (answer, received) = try await withHTTPServer { _ in
            json(#"{"items":[{"offerId":"S1_US","status":"active","expiresAt":1893456000}],"totalItemCount":1}"#)
        } test: { [email] url in
            try await withCleeng(url, log: log) {
                await $0.entitlements(customerEmail: email, offers: ["S1_US", "S2_US"])
            }
        }
        guard case .read(let offers) = answer.verdict else {
            Issue.record("not read: \(answer)")
            return
        }
        #expect(offers.count == 2)
        #expect(
            offers["S1_US"]
                == OfferEntitlement(
                    isEntitled: true, source: .entitlements, offerId: "S1_US", status: "active",
                    expiresAt: 1_893_456_000))
        #expect(offers["S2_US"]?.isEntitled == false)
        #expect(answer.status == 200)
        let request = try #require(received.first)
        #expect(request.method == "GET")
        #expect(request.path == "/3.1/entitlements")
        #expect(
            request.query
                == "customerEmail=ana%2Btv%40example.test&offset=0&limit=100&status=all&offerType=SPAR")
        #expect(request.headers["x-publisher-token"] == publisherToken)
        #expect(!log.lines.isEmpty)
        #expect(!log.lines.contains { $0.contains("ana") || $0.contains(publisherToken) })
    }

    @Test func pagesAreReadUntilAllItemsAreThere() async throws {
        let (answer, received) = try await withHTTPServer { [self] request in
            page(offset(request.query), of: 250)
        } test: { [email] url in
            try await withCleeng(url) { await $0.entitlements(customerEmail: email, offers: ["S249_US", "S250_US"]) }
        }
        guard case .read(let offers) = answer.verdict else {
            Issue.record("not read: \(answer)")
            return
        }
        #expect(offers["S249_US"]?.isEntitled == true)
        #expect(offers["S250_US"]?.isEntitled == false)
        #expect(received.map { offset($0.query) } == [0, 100, 200])
    }

    @Test func aListWithoutAnEndIsLeftAfterTenPages() async throws {
        let (answer, received) = try await withHTTPServer { [self] request in
            page(offset(request.query), of: 1_000_000)
        } test: { [email] url in
            try await withCleeng(url) {
                await $0.entitlements(customerEmail: email, offers: ["S999_US", "S1000_US"])
            }
        }
        #expect(answer.verdict == .tryAgain(.incomplete, retryAfter: nil))
        #expect(answer.verdict(of: "S1000_US") == answer.verdict)
        guard case .read(let offers) = answer.verdict(of: "S999_US") else {
            Issue.record("not read: \(answer)")
            return
        }
        #expect(offers["S999_US"]?.isEntitled == true)
        #expect(received.count == 10)
    }

    /// A customer keeps access unless a whole list says that it has ended.
    @Test(arguments: [
        #"{"items":[null],"totalItemCount":1}"#, #"{"items":[{"offerId":"S1_US","status":null}]}"#,
        #"{"items":[{"offerId":"S1_US","status":1}]}"#, #"{"items":[{"offerId":"S1_US","status":"paused"}]}"#,
        #"{"items":[{"offer":"S1_US","status":"active"}]}"#, #"{"items":[],"totalItemCount":2}"#,
        #"{"success":false,"data":[],"message":"later"}"#,
    ])
    func whatCannotBeReadToItsEndIsNoAnswer(body: String) async throws {
        let (answer, _) = try await withHTTPServer { _ in
            json(body)
        } test: { [email] url in
            try await withCleeng(url) { await $0.entitlements(customerEmail: email, offers: ["S1_US"]) }
        }
        guard case .tryAgain = answer.verdict else {
            Issue.record("taken for an answer: \(answer)")
            return
        }
        #expect(answer.status == 200)
    }

    @Test(arguments: [(404, #"{"message":"Customer not found"}"#), (429, "{}"), (401, "{}"), (200, "<html>")])
    func anOfferOfAnEarlierPageStaysEntitledWhereALaterPageFails(status: Int, body: String) async throws {
        let (answer, received) = try await withHTTPServer { [self] request in
            offset(request.query) == 0 ? page(0, of: 150) : json(body, status: .init(code: status))
        } test: { [email] url in
            try await withCleeng(url) { await $0.entitlements(customerEmail: email, offers: ["S99_US", "S149_US"]) }
        }
        #expect(received.count == 2)
        guard case .read(let offers) = answer.verdict(of: "S99_US") else {
            Issue.record("not read: \(answer)")
            return
        }
        #expect(offers["S99_US"]?.isEntitled == true)
        if case .read = answer.verdict(of: "S149_US") { Issue.record("taken for an answer: \(answer)") }
    }

    @Test func aPageThatFailsMakesTheWholeReadUnknown() async throws {
        let (answer, _) = try await withHTTPServer { [self] request in
            offset(request.query) == 0
                ? page(0, of: 150) : json("{}", status: .tooManyRequests, headers: [.retryAfter: "3"])
        } test: { [email] url in
            try await withCleeng(url) { await $0.entitlements(customerEmail: email, offers: ["S149_US"]) }
        }
        #expect(answer.verdict == .tryAgain(.throttled, retryAfter: .seconds(3)))
        #expect(answer.status == 429)
    }

    @Test func anUnknownCustomerIsNotEntitledYet() async throws {
        let (answer, _) = try await withHTTPServer { _ in
            json(#"{"success":false,"data":null,"message":"No customer ana+tv@example.test"}"#, status: .notFound)
        } test: { [email] url in
            try await withCleeng(url) { await $0.entitlements(customerEmail: email, offers: ["S1_US"]) }
        }
        guard case .read(let offers) = answer.verdict else {
            Issue.record("not read: \(answer)")
            return
        }
        #expect(offers["S1_US"]?.isEntitled == false)
    }

    @Test(
        arguments: [
            ("{}", 200, .tryAgain(.unreadable, retryAfter: nil)), ("<html>", 404, .misconfigured(message: nil)),
            (#"{"message":"who?"}"#, 401, .misconfigured(message: "who?")), ("", 302, .misconfigured(message: nil)),
            (#"{"message":"x"}"#, 400, .tryAgain(.unexpectedStatus, retryAfter: nil)),
            ("", 502, .tryAgain(.upstreamError, retryAfter: nil)),
        ] as [(String, Int, EntitlementReply.Verdict)])
    func eachStatusIsSorted(body: String, status: Int, verdict: EntitlementReply.Verdict) async throws {
        let (answer, received) = try await withHTTPServer { _ in
            json(body, status: .init(code: status), headers: [.location: "/elsewhere"])
        } test: { [email] url in
            try await withCleeng(url) { await $0.entitlements(customerEmail: email, offers: ["S1_US"]) }
        }
        #expect(answer.verdict == verdict)
        #expect(received.count == 1)
    }

    @Test(
        arguments: [
            ([.write("HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\n"), .trickle], .timeout), ([], .timeout),
            ([.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"), .close], .connectionClosed),
            ([.write("HTTP/1.1 200 OK\r\nContent-Length: 9000000\r\n\r\n")], .responseTooLarge),
            (
                [
                    .write(
                        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffff\r\n"
                            + String(repeating: "x", count: 65_535))
                ],
                .responseTooLarge
            ),
        ] as [([RawStep], CleengTrouble)])
    func aBodyThatDoesNotArriveIsUnknown(steps: [RawStep], trouble: CleengTrouble) async throws {
        let answer = try await withRawServer(steps) { url in
            try await withCleeng(url, maxResponseBytes: 65_000) {
                await $0.entitlements(customerEmail: email, offers: ["S1_US"], timeout: .seconds(2))
            }
        }
        #expect(answer.verdict == .tryAgain(trouble, retryAfter: nil))
    }
}
