import NIOCore
import NIOHTTP1
import NIOPosix

/// Opens connections to one relay.
struct LoadClient: Sendable {
    let host: String
    let port: Int
    let key: String
    let eventLoop: any EventLoop

    func connect() async throws -> LoadConnection {
        let channel = try await ClientBootstrap(group: eventLoop)
            .channelOption(.socketOption(.tcp_nodelay), value: 1)
            .connectTimeout(.seconds(30))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHTTPClientHandlers()
                    try channel.pipeline.syncOperations.addHandler(ExchangeHandler())
                }
            }
            .connect(host: host, port: port).get()
        return LoadConnection(channel: channel, host: "\(host):\(port)", key: key)
    }
}

/// One connection of an app: one request at a time.
struct LoadConnection: Sendable {
    let channel: any Channel
    let host: String
    let key: String

    var isOpen: Bool { channel.isActive }

    func post(_ path: String, body: ByteBuffer) async throws -> Answer {
        var head = head(.POST, path)
        head.headers.add(name: "Content-Type", value: "application/json")
        head.headers.add(name: "Content-Length", value: String(body.readableBytes))
        return try await send(head, body).get()
    }

    /// - Parameter wait: seconds to hold the poll for.
    func poll(_ id: some StringProtocol, wait: Int) -> EventLoopFuture<Answer> {
        var head = head(.GET, "/entitlements/\(id)")
        head.headers.add(name: "Prefer", value: "wait=\(wait)")
        return send(head, nil)
    }

    func close() async {
        try? await channel.close()
    }

    private func head(_ method: HTTPMethod, _ path: String) -> HTTPRequestHead {
        HTTPRequestHead(
            version: .http1_1, method: method, uri: path,
            headers: ["Host": host, "Authorization": "Bearer \(key)"])
    }

    private func send(_ head: HTTPRequestHead, _ body: ByteBuffer?) -> EventLoopFuture<Answer> {
        let answer = channel.eventLoop.makePromise(of: Answer.self)
        // If a write fails before it reaches the handler, the wait must fail too.
        channel.writeAndFlush(Exchange(head: head, body: body, answer: answer)).cascadeFailure(to: answer)
        return answer.futureResult
    }
}
