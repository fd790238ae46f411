public import HTTPTypes
public import Hummingbird
import Logging
import NIOConcurrencyHelpers
import NIOCore

/// A request to the receiver.
public struct Received: Sendable {
    public var method: String
    public var path: String
    /// Empty if the URL has no query.
    public var query: String
    public var headers: [String: String]
    public var body: String

    public var authorization: String? { headers["authorization"] }
}

/// Runs a real HTTP server on its own port while `test` runs. Returns the requests.
public func withReceiver<Answer: Sendable>(
    _ respond: @escaping @Sendable (Received) async -> Response = { _ in Response(status: .ok) },
    _ test: @escaping @Sendable (_ port: Int, _ received: @escaping @Sendable () -> [Received]) async throws -> Answer
) async throws -> Answer {
    let box = NIOLockedValueBox<[Received]>([])
    let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
    let responder = CallbackResponder<BasicRequestContext> { request, _ in
        var request = request
        let body = try await request.collectBody(upTo: 16 << 20)
        var headers: [String: String] = [:]
        for field in request.headers { headers[field.name.canonicalName] = field.value }
        headers["host"] = request.head.authority
        let received = Received(
            method: request.method.rawValue, path: request.uri.path, query: request.uri.query ?? "", headers: headers,
            body: String(buffer: body))
        box.withLockedValue { $0.append(received) }
        return await respond(received)
    }
    var logger = Logger(label: "receiver")
    logger.logLevel = .critical
    let application = Application(
        responder: responder, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
        onServerRunning: { channel in
            continuation.yield(channel.localAddress?.port ?? 0)
            continuation.finish()
        }, logger: logger)
    return try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await application.run() }
        var iterator = ports.makeAsyncIterator()
        let port = await iterator.next() ?? 0
        let answer = try await test(port) { box.withLockedValue { $0 } }
        group.cancelAll()
        return answer
    }
}

/// The same with the server's address. Returns the requests at the end.
public func withHTTPServer<Answer: Sendable>(
    respond: @escaping @Sendable (Received) async -> Response,
    test: @escaping @Sendable (String) async throws -> Answer
) async throws -> (Answer, [Received]) {
    try await withReceiver(respond) { port, received in
        (try await test("http://127.0.0.1:\(port)"), received())
    }
}

public func json(_ text: String, status: HTTPResponse.Status = .ok, headers: HTTPFields = [:]) -> Response {
    var headers = headers
    headers[.contentType] = "application/json"
    return Response(status: status, headers: headers, body: .init(byteBuffer: ByteBuffer(string: text)))
}
