public import Hummingbird
import Logging
import NIOConcurrencyHelpers
import NIOCore

/// What a server under test was asked.
public struct ReceivedRequest: Sendable {
    public var method: String
    /// As it stands in the request.
    public var path: String
    public var authorization: String?
    public var body: String
}

/// Runs a real HTTP server on a port of its own while `test` runs; tells what it was asked.
public func withHTTPServer<Answer: Sendable>(
    respond: @escaping @Sendable (ReceivedRequest) async -> Response,
    test: @escaping @Sendable (String) async throws -> Answer
) async throws -> (Answer, [ReceivedRequest]) {
    let received = NIOLockedValueBox<[ReceivedRequest]>([])
    let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
    let responder = CallbackResponder<BasicRequestContext> { request, _ in
        var request = request
        let body = try await request.collectBody(upTo: 1 << 20)
        let asked = ReceivedRequest(
            method: request.method.rawValue, path: request.uri.string, authorization: request.headers[.authorization],
            body: String(buffer: body))
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

public func json(_ text: String, status: Int = 200, headers: HTTPFields = [:]) -> Response {
    var headers = headers
    headers[.contentType] = "application/json"
    return Response(
        status: .init(code: status), headers: headers, body: .init(byteBuffer: ByteBuffer(string: text)))
}
