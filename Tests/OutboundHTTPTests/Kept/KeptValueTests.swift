import NIOCore
import NIOHTTP1
import Testing

@testable import OutboundHTTP

/// Parts of a kept connection that can be tested without a connection.
struct KeptValueTests {
    // MARK: Origin

    struct Address: Sendable {
        var url: String
        var host: String
        var port: Int
        var authority: String
        var target: String
    }

    @Test(arguments: [
        Address(url: "https://a.example/x?y=1", host: "a.example", port: 443, authority: "a.example", target: "/x?y=1"),
        Address(url: "HTTP://a.example", host: "a.example", port: 80, authority: "a.example", target: "/"),
        Address(url: "http://a.example:80/", host: "a.example", port: 80, authority: "a.example", target: "/"),
        Address(url: "http://a:443?q#f", host: "a", port: 443, authority: "a:443", target: "/?q"),
        Address(url: "https://a:8443/b#f", host: "a", port: 8443, authority: "a:8443", target: "/b"),
        Address(url: "http://[::1]:9/p", host: "::1", port: 9, authority: "[::1]:9", target: "/p"),
        Address(url: "https://[::1]", host: "::1", port: 443, authority: "[::1]", target: "/"),
        Address(url: "http://a:/p", host: "a", port: 80, authority: "a", target: "/p"),
    ])
    func aURLIsReadOnce(address: Address) throws {
        let origin = try #require(Origin(of: address.url))
        #expect(origin.host == address.host && origin.port == address.port && origin.authority == address.authority)
        #expect(origin.target(in: address.url).map(String.init) == address.target)
    }

    @Test(arguments: [
        "", "a.example", "ftp://a/", "http://", "http:///x", "http://u@a/", "http://a:0/", "http://a:65536/",
        "http://a:x/",
        "http://a:1:2/", "http://[::1", "http://[]/", "http://[::1]x/", "http://ä/", "http://a b/",
    ])
    func whatIsNoAddressIsRefused(url: String) {
        #expect(Origin(of: url) == nil)
    }

    @Test(arguments: [
        "https://a.example", "http://a.example.test/x", "http://a.example:81/x", "http://b.example/x", "http",
    ])
    func anotherOriginHasNoTarget(url: String) throws {
        #expect(try #require(Origin(of: "http://a.example/")).target(in: url) == nil)
    }

    @Test func tlsNamesNoAddress() {
        let names = ["https://a.example", "https://127.0.0.1", "https://[::1]:1"].map { Origin(of: $0)?.serverName }
        #expect(names == ["a.example", nil, nil])
    }

    // MARK: Request

    private func encode(_ request: OutboundRequest) throws -> String? {
        try #require(Origin(of: "http://a.example:81")).encode(request).map { String(buffer: $0) }
    }

    @Test func aRequestIsOneText() throws {
        let post = OutboundRequest(
            url: "http://a.example:81/p?q=%20", method: .POST,
            headers: ["X-A": "b c", "Content-Type": "application/json"],
            body: ByteBuffer(string: "{}"))
        #expect(
            try encode(post)
                == "POST /p?q=%20 HTTP/1.1\r\nHost: a.example:81\r\nUser-Agent: receipt-relay\r\nX-A: b c\r\n"
                + "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")
        let get = OutboundRequest(url: "http://a.example:81")
        #expect(try encode(get) == "GET / HTTP/1.1\r\nHost: a.example:81\r\nUser-Agent: receipt-relay\r\n\r\n")
        let empty = OutboundRequest(url: "http://a.example:81/", method: .POST)
        #expect(try encode(empty)?.hasSuffix("\r\nContent-Length: 0\r\n\r\n") == true)
    }

    @Test(arguments: ["hOST", "user-agent", "Content-Length", "Transfer-Encoding", "Connection", "Expect", "Upgrade"])
    func aCallerDoesNotFrameTheRequest(name: String) throws {
        let request = OutboundRequest(url: "http://a.example:81/", headers: HTTPHeaders([(name, "chunked")]))
        #expect(try encode(request)?.contains("chunked") == false)
    }

    @Test(arguments: [
        ("X-A", "b\r\nX-B: c"), ("X-A", "b\nc"), ("X-A", "\0"), ("X-A", "\u{7f}"), ("X A", "b"), ("", "b"),
        ("X\r\n", "b"),
    ])
    func aHeaderThatCouldBeReadAsTwoIsRefused(header: (String, String)) throws {
        #expect(try encode(OutboundRequest(url: "http://a.example:81/", headers: HTTPHeaders([header]))) == nil)
    }

    @Test(arguments: ["/a b", "/a\r\nX: y", "/ä", "/\0"]) func aPathThatIsNoneIsRefused(path: String) throws {
        #expect(try encode(OutboundRequest(url: "http://a.example:81" + path)) == nil)
    }

    // MARK: Second sending

    @Test func onlyAnUnseenRequestIsSentAgain() {
        #expect(SendAttempt.notWritten.mayBeRepeated(isEncrypted: false, attempts: 1))
        #expect(SendAttempt.notWritten.mayBeRepeated(isEncrypted: true, attempts: 1))
        #expect(SendAttempt.refused.mayBeRepeated(isEncrypted: false, attempts: 1))
        #expect(!SendAttempt.refused.mayBeRepeated(isEncrypted: true, attempts: 1))
        #expect(!SendAttempt.maybeSent.mayBeRepeated(isEncrypted: false, attempts: 1))
        #expect(!SendAttempt.maybeSent.mayBeRepeated(isEncrypted: true, attempts: 1))
    }

    @Test func noRequestIsAssignedForEver() {
        let attempts = (1...20).filter { SendAttempt.notWritten.mayBeRepeated(isEncrypted: false, attempts: $0) }
        #expect(attempts == Array(1..<SendAttempt.mostAttempts))
    }

    // MARK: Answer

    private func head(_ headers: HTTPHeaders = [:], status: HTTPResponseStatus = .ok, version: HTTPVersion = .http1_1)
        -> HTTPClientResponsePart
    {
        .head(HTTPResponseHead(version: version, status: status, headers: headers))
    }

    @Test(arguments: [
        (HTTPVersion.http1_1, "", true), (.http1_1, "close", false), (.http1_1, "keep-alive", true),
        (.http1_0, "", false),
        (.http1_0, "keep-alive", true),
    ])
    func theServerSaysWhetherTheConnectionStays(version: HTTPVersion, connection: String, keeps: Bool) {
        var answer = IncomingAnswer(maxBodyBytes: 10)
        _ = answer.take(head(connection.isEmpty ? [:] : ["Connection": connection], version: version))
        #expect(answer.take(.end(nil)) == .whole(keepsConnection: keeps))
    }

    @Test func anotherProtocolEndsTheConnection() {
        var answer = IncomingAnswer(maxBodyBytes: 10)
        _ = answer.take(head(status: .switchingProtocols))
        #expect(answer.take(.end(nil)) == .whole(keepsConnection: false))
    }

    @Test func anAnnouncedSizeBeyondTheBoundFailsAtTheHead() throws {
        var answer = IncomingAnswer(maxBodyBytes: 10)
        #expect(answer.take(head(["Content-Length": "10"])) == .unfinished)
        #expect(answer.take(head(["Content-Length": "11"], status: .created)) == .failed(.responseTooLarge))
        let reply = try answer.result(endedBy: .responseTooLarge).get()
        #expect(reply.status == 201 && reply.body == .failure(.responseTooLarge))
    }

    @Test func withoutAHeadThereIsNoReply() {
        var answer = IncomingAnswer(maxBodyBytes: 10)
        #expect(throws: OutboundError.timeout) { try answer.result(endedBy: .timeout).get() }
        #expect(answer.take(.end(nil)) == .failed(.unreadable))
    }

    /// A body in any number of parts is read whole within the limit, and never beyond it.
    @Test(arguments: 1...100) func bodiesInParts(seed: Int) throws {
        var random = Seeded(state: UInt64(seed))
        let bytes = (0..<Int.random(in: 0..<60, using: &random)).map { UInt8($0) }
        var answer = IncomingAnswer(maxBodyBytes: 40)
        _ = answer.take(head())
        var rest = bytes[...]
        var progress = IncomingAnswer.Progress.unfinished
        while !rest.isEmpty, progress == .unfinished {
            let size = Int.random(in: 0...rest.count, using: &random)
            progress = answer.take(.body(ByteBuffer(bytes: rest.prefix(size))))
            rest = rest.dropFirst(size)
        }
        guard bytes.count <= 40 else {
            #expect(progress == .failed(.responseTooLarge))
            return
        }
        #expect(answer.take(.end(nil)) == .whole(keepsConnection: true))
        #expect(try answer.result().get().wholeBody == ByteBuffer(bytes: bytes))
    }
}
