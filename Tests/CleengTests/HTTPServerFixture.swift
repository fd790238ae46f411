import AsyncHTTPClient
import Cleeng
import Hummingbird
import Logging
import NIOConcurrencyHelpers
import NIOCore

/// What a server under test was asked.
struct ReceivedRequest: Sendable {
    var method: String
    var path: String
    var query: String
    var headers: [String: String]
    var body: ByteBuffer
}

/// Runs a real HTTP server on a port of its own while `test` runs; answers what it was asked.
func withHTTPServer<Answer: Sendable>(
    respond: @escaping @Sendable (ReceivedRequest) async -> Response,
    test: @escaping @Sendable (String) async throws -> Answer
) async throws -> (Answer, [ReceivedRequest]) {
    let received = NIOLockedValueBox<[ReceivedRequest]>([])
    let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
    let responder = CallbackResponder<BasicRequestContext> { request, _ in
        var request = request
        let body = try await request.collectBody(upTo: 16 << 20)
        var headers: [String: String] = [:]
        for field in request.headers { headers[field.name.canonicalName] = field.value }
        let asked = ReceivedRequest(
            method: request.method.rawValue, path: request.uri.path, query: request.uri.query ?? "", headers: headers,
            body: body)
        received.withLockedValue { $0.append(asked) }
        return await respond(asked)
    }
    var logger = Logger(label: "server")
    logger.logLevel = .critical
    let application = Application(
        responder: responder, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
        onServerRunning: { channel in
            continuation.yield(channel.localAddress?.port ?? 0)
            continuation.finish()
        }, logger: logger)
    let answer = try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await application.run() }
        var iterator = ports.makeAsyncIterator()
        let port = await iterator.next() ?? 0
        let answer = try await test("http://127.0.0.1:\(port)")
        group.cancelAll()
        return answer
    }
    return (answer, received.withLockedValue { $0 })
}

func json(_ text: String, status: HTTPResponse.Status = .ok, headers: HTTPFields = [:]) -> Response {
    var headers = headers
    headers[.contentType] = "application/json"
    return Response(status: status, headers: headers, body: .init(byteBuffer: ByteBuffer(string: text)))
}
