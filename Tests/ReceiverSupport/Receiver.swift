import HTTPTypes
public import Hummingbird
import Logging
import NIOConcurrencyHelpers
import NIOCore

/// What a receiver was sent.
public struct Received: Sendable {
    public var path: String
    public var headers: [String: String]
    public var body: String
}

/// Runs a real HTTP server on a port of its own while `test` runs; answers what it was sent.
public func withReceiver(
    _ respond: @escaping @Sendable (Received) async -> Response = { _ in Response(status: .ok) },
    _ test: @escaping @Sendable (_ port: Int, _ received: @escaping @Sendable () -> [Received]) async throws -> Void
) async throws {
    let box = NIOLockedValueBox<[Received]>([])
    let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
    let responder = CallbackResponder<BasicRequestContext> { request, _ in
        var request = request
        let body = try await request.collectBody(upTo: 1 << 20)
        var headers: [String: String] = [:]
        for field in request.headers { headers[field.name.canonicalName] = field.value }
        headers["host"] = request.head.authority
        let received = Received(path: request.uri.path, headers: headers, body: String(buffer: body))
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
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await application.run() }
        var iterator = ports.makeAsyncIterator()
        let port = await iterator.next() ?? 0
        try await test(port) { box.withLockedValue { $0 } }
        group.cancelAll()
    }
}
