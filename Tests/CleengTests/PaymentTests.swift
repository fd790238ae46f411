import Foundation
import Hummingbird
import NIOConcurrencyHelpers
import NIOCore
import ReceiverSupport
import Testing

import struct RelayCore.Identifier

@testable import Cleeng

struct PaymentTests {
    @Test func aPurchaseIsSentWithCleengsFieldsAndTheToken() async throws {
        let log = CapturedLog()
        let (answer, received) = try await withHTTPServer { _ in
            json(#"{"success":true}"#)
        } test: { url in
            try await withCleeng(url, log: log) { cleeng in
                var payment = payment
                payment.ipAddress = "203.0.113.9"
                payment.couponCode = "quote \" \\ \n\u{1}é"
                return await cleeng.pay(payment)
            }
        }
        #expect(answer.verdict == .accepted)
        #expect(answer.status == 200)
        #expect(answer.latency > .zero)
        let request = try #require(received.first)
        #expect(received.count == 1)
        #expect(request.method == "POST")
        #expect(request.path == "/apple/payment")
        #expect(request.headers["x-publisher-token"] == publisherToken)
        #expect(request.headers["content-type"] == "application/json")
        let body = try JSONSerialization.jsonObject(with: Data(request.body.utf8)) as? NSDictionary
        #expect(
            body == [
                "customerEmail": "ana+tv@example.test", "offerId": "S598742062_US",
                "receipt": ["transactionId": "2000000111222333", "receiptData": "MIIT+/=="], "appType": "ios",
                "ipAddress": "203.0.113.9", "couponCode": "quote \" \\ \n\u{1}é",
            ])
        #expect(!log.lines.isEmpty)
        for line in log.lines {
            #expect(line.hasPrefix("debug"))
            #expect(!line.contains(publisherToken) && !line.contains("ana"))
        }
    }

    @Test func whatIsNotGivenIsNotSent() throws {
        let body = String(buffer: payment.body())
        #expect(
            body == #"{"customerEmail":"ana+tv@example.test","offerId":"S598742062_US","#
                + #""receipt":{"transactionId":"2000000111222333","receiptData":"MIIT+/=="},"appType":"ios"}"#)
    }

    @Test func aReceiptOfFourMebibytesArrivesWhole() async throws {
        let receipt = ByteBuffer(repeating: UInt8(ascii: "A"), count: 4 << 20)
        let (answer, received) = try await withHTTPServer { _ in
            json("{}")
        } test: { url in
            try await withCleeng(url) { cleeng in
                var payment = payment
                payment.receipt = appReceipt(receipt)
                return await cleeng.pay(payment)
            }
        }
        #expect(answer.verdict == .accepted)
        #expect(try #require(received.first).body.utf8.count > 4 << 20)
    }

    @Test(
        arguments: [
            (200, .accepted), (202, .accepted),
            (400, .rejected(code: "E1", message: "no")),
            (422, .rejected(code: "E1", message: "no")), (401, .misconfigured(message: "no")),
            (403, .misconfigured(message: "no")), (404, .misconfigured(message: "no")),
            (408, .tryAgain(.requestTimeout, retryAfter: .seconds(9))),
            (429, .tryAgain(.throttled, retryAfter: .seconds(9))),
            (500, .tryAgain(.upstreamError, retryAfter: .seconds(9))),
            (503, .tryAgain(.upstreamError, retryAfter: .seconds(9))),
        ] as [(Int, ForwardAnswer.Verdict)])
    func eachStatusIsSorted(status: Int, verdict: ForwardAnswer.Verdict) async throws {
        let (answer, received) = try await withHTTPServer { _ in
            json(#"{"code":"E1","message":"no"}"#, status: .init(code: status), headers: [.retryAfter: "9"])
        } test: { url in
            try await withCleeng(url) { await $0.pay(payment) }
        }
        #expect(answer.verdict == verdict)
        #expect(answer.status == status)
        #expect(received.count == 1)
    }

    /// Following a redirect would send the publisher token to its target.
    @Test(arguments: [301, 302, 303, 307, 308])
    func aRedirectIsNotFollowed(status: Int) async throws {
        let (answer, received) = try await withHTTPServer { request in
            guard request.path == "/apple/payment" else { return json("{}") }
            return Response(status: .init(code: status), headers: [.location: "/stolen"])
        } test: { url in
            try await withCleeng(url) { await $0.pay(payment) }
        }
        #expect(answer.verdict == .misconfigured(message: nil))
        #expect(received.map(\.path) == ["/apple/payment"])
    }

    @Test func aRetryAfterDateIsRelativeToTheAnswersDate() async throws {
        let head =
            "HTTP/1.1 503 Busy\r\nDate: Sun, 06 Nov 1994 08:49:07 GMT\r\n"
            + "Retry-After: Sun, 06 Nov 1994 08:49:37 GMT\r\nContent-Length: 0\r\n\r\n"
        let answer = try await withRawServer([.write(head)]) { url in
            try await withCleeng(url) { await $0.pay(payment) }
        }
        #expect(answer.verdict == .tryAgain(.upstreamError, retryAfter: .seconds(30)))
    }

    /// The deadline must end the call, since the server never does. A busy machine may deliver the head after the
    /// deadline, so the call is repeated with a longer one.
    @Test(
        arguments: [
            ([], .tryAgain(.timeout, retryAfter: nil), nil),
            ([.write("HTTP/1.1 200 OK\r\n")], .tryAgain(.timeout, retryAfter: nil), nil),
            ([.write("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"), .trickle], .accepted, 200),
            (
                [.write("HTTP/1.1 400 No\r\nContent-Length: 100000\r\n\r\n"), .trickle],
                .rejected(code: nil, message: nil), 400
            ),
            ([.write("HTTP/1.1 503 No\r\nContent-Length: 9\r\n\r\n")], .tryAgain(.upstreamError, retryAfter: nil), 503),
        ] as [([RawStep], ForwardAnswer.Verdict, Int?)])
    func theDeadlineEndsEveryCall(steps: [RawStep], verdict: ForwardAnswer.Verdict, status: Int?) async throws {
        func pay(within timeout: Duration) async throws -> ForwardAnswer {
            let answer = try await withRawServer(steps) { url in
                try await withCleeng(url, timeout: timeout) { await $0.pay(payment) }
            }
            #expect(answer.latency >= timeout)
            return answer
        }
        var answer = try await pay(within: .seconds(1))
        for timeout in [5, 25] where answer.status != status { answer = try await pay(within: .seconds(timeout)) }
        #expect(answer.verdict == verdict)
        #expect(answer.status == status)
    }

    @Test(
        arguments: [
            ([.close], .connectionClosed), ([.write("HTTP/1.1 200"), .close], .connectionClosed),
            ([.write("not HTTP at all\r\n\r\n")], .unreadable),
        ] as [([RawStep], CleengTrouble)])
    func aConnectionThatFailsIsTriedAgain(steps: [RawStep], trouble: CleengTrouble) async throws {
        let answer = try await withRawServer(steps) { url in
            try await withCleeng(url) { await $0.pay(payment) }
        }
        #expect(answer.verdict == .tryAgain(trouble, retryAfter: nil))
        #expect(answer.status == nil)
    }

    /// The server closes the connection while most of the request is unsent, so that a write fails.
    @Test func aConnectionThatIsResetWhileItSendsWasMade() async throws {
        var large = payment
        large.receipt = appReceipt(ByteBuffer(repeating: UInt8(ascii: "A"), count: 4_000_000))
        let answer = try await withRawServer([.close]) { url in
            try await withCleeng(url) { await $0.pay(large) }
        }
        #expect(answer.verdict == .tryAgain(.connectionClosed, retryAfter: nil))
    }

    @Test func anUnreachableServerFailsAtOnce() async throws {
        let url = try await withRawServer([]) { $0 }
        let answer = try await withCleeng(url) { await $0.pay(payment) }
        #expect(answer.verdict == .tryAgain(.connectionFailed, retryAfter: nil))
    }

    @Test func aBodyBeyondTheBoundIsNotRead() async throws {
        let (answer, _) = try await withHTTPServer { _ in
            json(#"{"code":"E1","message":"\#(String(repeating: "x", count: 100_000))"}"#, status: .badRequest)
        } test: { url in
            try await withCleeng(url, maxResponseBytes: 1024) { await $0.pay(payment) }
        }
        #expect(answer.verdict == .rejected(code: nil, message: nil))
    }

    @Test func aCancelledTaskAnswersCancelledAndNotTimeout() async throws {
        let answer = try await withRawServer([]) { url in
            try await withCleeng(url) { cleeng in
                let call = Task { await cleeng.pay(payment) }
                call.cancel()
                return await call.value
            }
        }
        #expect(answer.verdict == .tryAgain(.cancelled, retryAfter: nil))
    }

    @Test func anEchoedTokenIsHidden() async throws {
        let (answer, _) = try await withHTTPServer { request in
            json(#"{"message":"bad token \#(request.headers["x-publisher-token"] ?? "")"}"#, status: .unauthorized)
        } test: { url in
            try await withCleeng(url) { await $0.pay(payment) }
        }
        #expect(answer.verdict == .misconfigured(message: "bad token ***"))
    }
}
