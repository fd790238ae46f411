import Formats
import HTTPTypes
import Hummingbird
import NIOConcurrencyHelpers
import NIOCore
import TestRun
import Testing

@testable import HTTPServer

@Suite("Connections of the front")
struct FrontChannelTests {
    private static let routes: [Route] = [
        .get("/text") { _, _ in Response(status: .ok, body: ResponseBody(byteBuffer: ByteBuffer(string: "hello"))) },
        .get("/stream") { _, _ in
            Response(
                status: .ok, headers: [.contentType: "text/event-stream"],
                body: ResponseBody { writer in
                    for part in ["one", "two"] { try await writer.write(ByteBuffer(string: part)) }
                    try await writer.finish(nil)
                })
        },
    ]

    @Test("HTTP/1.0 is answered, and its connection is closed unless it asks to keep it")
    func oldVersion() async throws {
        try await TestFront.with(Self.routes) { front in
            let one = try await front.exchange("GET /text HTTP/1.0\r\n\r\n")
            #expect(one.hasPrefix("HTTP/1.0 200 OK\r\n") && one.hasSuffix("\r\n\r\nhello"), "\(one)")
            #expect(one.lowercased().contains("\r\nconnection: close\r\n"), "\(one)")
            let two = try await front.exchange(
                "GET /text HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\nGET /text HTTP/1.0\r\nHost: x\r\n\r\n")
            let answers = two.components(between: "HTTP/1.0 200 OK\r\n").map { $0.lowercased() }
            #expect(answers.count == 2 && answers.allSatisfy { $0.hasSuffix("hello") }, "\(two)")
            #expect(answers.first?.contains("\r\nconnection: keep-alive\r\n") == true, "\(two)")
            #expect(answers.last?.contains("\r\nconnection: close\r\n") == true, "\(two)")
        }
    }

    @Test(
        "a stream goes to HTTP/1.0 without chunks, and ends with its connection", arguments: ["close", "keep-alive"])
    func oldStream(_ connection: String) async throws {
        let fields = "Host: x\r\nAccept: text/event-stream\r\nConnection: \(connection)\r\n\r\n"
        try await TestFront.with(Self.routes) { front in
            let stream = try await front.exchange("GET /stream HTTP/1.0\r\n\(fields)")
            #expect(stream.hasPrefix("HTTP/1.0 200 OK\r\n") && stream.hasSuffix("\r\n\r\nonetwo"), "\(stream)")
            #expect(!stream.lowercased().contains("transfer-encoding"), "\(stream)")
        }
    }

    @Test("a stream goes to HTTP/1.1 in chunks", arguments: ["close", "Close", "close, x"])
    func stream(_ connection: String) async throws {
        try await TestFront.with(Self.routes) { front in
            let fields = "Host: x\r\nConnection: \(connection)\r\n\r\n"
            let stream = try await front.exchange("GET /stream HTTP/1.1\r\n\(fields)")
            #expect(stream.hasPrefix("HTTP/1.1 200 OK\r\n"), "\(stream)")
            #expect(stream.hasSuffix("3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n"), "\(stream)")
        }
    }

    @Test(
        "without Host, or with two, HTTP/1.1 is refused after the answers before it",
        arguments: ["", "Host: a\r\nHost: a\r\n", "Host: a\r\nX: y\r\nhost: b\r\n"])
    func host(_ fields: String) async throws {
        try await TestFront.with(Self.routes) { front in
            let good = "GET /text HTTP/1.1\r\nHost: x\r\n\r\n"
            let text = try await front.exchange("\(good)GET /text HTTP/1.1\r\n\(fields)\r\n\(good)")
            let answers = text.components(between: "HTTP/1.1 ")
            #expect(answers.count == 2 && answers.first?.hasPrefix("200 OK\r\n") == true, "\(text)")
            let refusal = answers.last ?? ""
            #expect(refusal.hasPrefix("400 Bad Request\r\n"), "\(text)")
            #expect(refusal.contains("application/problem+json") && refusal.contains("bad_request"), "\(text)")
        }
    }

    @Test("an answer written during shutdown announces the connection's end, and the connection ends")
    func farewell() async throws {
        let (arrived, arrival) = AsyncStream<Void>.makeStream()
        let (leave, given) = AsyncStream<Void>.makeStream()
        let route = Route.get("/slow") { _, _ in
            arrival.yield()
            for await _ in leave { break }
            return Response(status: .ok, body: ResponseBody(byteBuffer: ByteBuffer(string: "hello")))
        }
        try await TestFront.with([route]) { front in
            let (channel, client) = try await front.connect()
            try await channel.writeAndFlush(ByteBuffer(string: "GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")).get()
            for await _ in arrived { break }
            try await front.quiesce()
            given.yield()
            #expect(await TestFront.eventually { client.isEnded })
            #expect(client.text.lowercased().contains("\r\nconnection: close\r\n"), "\(client.text)")
            #expect(client.text.hasSuffix("\r\n\r\nhello"), "\(client.text)")
        }
    }

    private static let answerBytes = 16 << 10
    /// The answers are about ten times what the kernel buffers for a connection.
    private static let requests = 4_000

    @Test(
        "no answers are made for a client that reads none", .timeLimit(.paced(minutes: 2)),
        arguments: ["from memory", "by the router"])
    func unreadAnswers(_ road: String) async throws {
        let made = NIOLockedValueBox(0)
        let body = ByteBuffer(repeating: UInt8(ascii: "x"), count: Self.answerBytes)
        var route = Route.get("/answers/:id") { _, _ in
            made.withLockedValue { $0 += 1 }
            return Response(status: .ok, body: ResponseBody(byteBuffer: body))
        }
        if road == "from memory" {
            route.cached = { _, _ in
                made.withLockedValue { $0 += 1 }
                let fields: HTTPFields = [.contentLength: "\(Self.answerBytes)"]
                return CachedAnswer(
                    response: HTTPResponse(status: .ok, headerFields: fields), body: body, caller: "0123456789abcdef")
            }
        }
        try await TestFront.with([route]) { front in
            let (channel, client) = try await front.connect(reads: false)
            let requests = String(repeating: "GET /answers/1 HTTP/1.1\r\nHost: x\r\n\r\n", count: Self.requests)
            channel.writeAndFlush(ByteBuffer(string: requests), promise: nil)
            // Waits until no answer was made for a second.
            var (last, quiet) = (0, 0)
            while last == 0 || quiet < 50 {
                try await Task.sleep(for: .milliseconds(20))
                let now = made.withLockedValue { $0 }
                quiet = now == last ? quiet + 1 : 0
                last = now
            }
            #expect(last < Self.requests / 2)
            // After the client reads again, it receives all of them.
            try await channel.setOption(ChannelOptions.autoRead, value: true).get()
            #expect(await TestFront.eventually { made.withLockedValue { $0 } >= Self.requests })
            #expect(await TestFront.eventually { client.bytes > Self.requests * Self.answerBytes })
            #expect(made.withLockedValue { $0 } == Self.requests)
            try await channel.close()
        }
    }
}

extension String {
    /// The parts of the text between the occurrences of `text`.
    fileprivate func components(between text: String) -> [String] {
        split(separator: text, omittingEmptySubsequences: true).map { String($0) }
    }
}
