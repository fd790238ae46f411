import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import OutboundHTTP
import ReceiverSupport
import StoreTestSupport
import Testing

/// One exchange with a server that follows a script.
struct ExchangeTests {
    private func reply(
        _ steps: [RawStep], atMost bytes: Int = 100, within timeout: Duration = .seconds(20), body: Duration? = nil
    ) async throws -> HTTPReply {
        try await withRawServer(steps) { url in
            try await withStoreClient { client in
                try await HTTPExchange(client, by: .now + timeout, atMost: bytes, bodyWithin: body)
                    .send(OutboundRequest(url: url))
            }
        }
    }

    @Test func anAnswerIsItsStatusHeadersAndBody() async throws {
        let reply = try await reply([.write("HTTP/1.1 418 No\r\nX-A: b\r\nContent-Length: 3\r\n\r\nabc")])
        #expect(reply.status == 418 && reply.headers.first(name: "x-a") == "b")
        #expect(reply.wholeBody == ByteBuffer(string: "abc"))
        #expect(try reply.whole().status == 418)
    }

    @Test(arguments: ["204 No Content\r\n\r\n", "200 OK\r\nContent-Length: 0\r\n\r\n"])
    func anEmptyBodyIsOne(head: String) async throws {
        #expect(try await reply([.write("HTTP/1.1 \(head)")]).wholeBody == ByteBuffer())
    }

    @Test(arguments: [
        "Content-Length: 101\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n65\r\n" + String(repeating: "x", count: 101) + "\r\n",
    ])
    func aBodyBeyondTheBoundLeavesItsStatus(rest: String) async throws {
        let reply = try await reply([.write("HTTP/1.1 200 OK\r\n\(rest)")])
        #expect(reply.status == 200 && reply.body == .failure(.responseTooLarge))
        #expect(throws: OutboundError.responseTooLarge) { try reply.whole() }
    }

    @Test func aBodyAtTheBoundIsRead() async throws {
        let text = String(repeating: "x", count: 100)
        let reply = try await reply([.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n\(text)")])
        #expect(reply.wholeBody == ByteBuffer(string: text))
    }

    @Test func theDeadlineHoldsForTheBodyToo() async throws {
        let steps: [RawStep] = [.write("HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n"), .trickle]
        let start = ContinuousClock.now
        // A busy machine may need longer for the head.
        var deadline = Duration.milliseconds(250)
        var cut: HTTPReply?
        while cut == nil {
            deadline *= 2
            do {
                cut = try await reply(steps, atMost: 1 << 20, within: deadline)
            } catch OutboundError.timeout where deadline < .seconds(30) {}
        }
        #expect(cut?.body == .failure(.timeout))
        #expect(
            try await reply(steps, atMost: 1 << 20, within: .seconds(600), body: .milliseconds(200)).body
                == .failure(.timeout))
        #expect(start.duration(to: .now) < .seconds(300))
    }

    /// With and without the head of the answer before the deadline.
    @Test(arguments: [[], [.write("HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n"), .trickle]] as [[RawStep]])
    func aCancelledCallerGetsACancellation(steps: [RawStep]) async throws {
        try await withRawServer(steps) { url in
            try await withStoreClient { client in
                let exchange = HTTPExchange(client, by: .now + .seconds(600), atMost: 1 << 20)
                let call = Task { try await exchange.send(OutboundRequest(url: url)).body }
                try await Task.sleep(for: .milliseconds(300))
                call.cancel()
                do {
                    #expect(try await call.value == .failure(.cancelled))
                } catch {
                    #expect(error as? OutboundError == .cancelled)
                }
            }
        }
    }
}
