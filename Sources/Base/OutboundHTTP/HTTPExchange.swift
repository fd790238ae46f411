public import AsyncHTTPClient
public import NIOCore
public import NIOHTTP1

/// One request and its whole answer, within one deadline and one limit of bytes.
///
/// The HTTP client's own deadline covers only the head of an answer. This one covers the body as well.
public struct HTTPExchange: Sendable {
    private enum Transport {
        case general(HTTPClient)
        case kept(KeptConnections)
    }

    private let transport: Transport
    private let deadline: ContinuousClock.Instant
    private let maxBodyBytes: Int
    private let bodyTimeout: Duration?

    /// - Parameters:
    ///   - client: made with ``AsyncHTTPClient/HTTPClient/Configuration/outbound(connectTimeout:connectionsPerHost:)``.
    ///   - bodyTimeout: stops reading the body earlier than `deadline`.
    public init(
        _ client: HTTPClient, by deadline: ContinuousClock.Instant, atMost maxBodyBytes: Int,
        bodyWithin bodyTimeout: Duration? = nil
    ) {
        self.init(.general(client), by: deadline, atMost: maxBodyBytes, bodyWithin: bodyTimeout)
    }

    /// - Parameter bodyTimeout: stops reading the body earlier than `deadline`.
    public init(
        _ connections: KeptConnections, by deadline: ContinuousClock.Instant, atMost maxBodyBytes: Int,
        bodyWithin bodyTimeout: Duration? = nil
    ) {
        self.init(.kept(connections), by: deadline, atMost: maxBodyBytes, bodyWithin: bodyTimeout)
    }

    private init(
        _ transport: Transport, by deadline: ContinuousClock.Instant, atMost maxBodyBytes: Int,
        bodyWithin bodyTimeout: Duration?
    ) {
        self.transport = transport
        self.deadline = deadline
        self.maxBodyBytes = maxBodyBytes
        self.bodyTimeout = bodyTimeout
    }

    /// Sends the request under a client span.
    ///
    /// - Parameter route: span name, without any value that identifies a customer.
    /// - Throws: if no head of an answer arrived.
    public func send(_ request: OutboundRequest, route: String) async throws(OutboundError) -> HTTPReply {
        var request = request
        let span = ClientSpan.start(request.method, route, url: request.url, headers: &request.headers)
        do {
            let reply = try await send(request)
            span.end(status: reply.status)
            return reply
        } catch {
            span.end(error)
            throw error
        }
    }

    /// Sends the request without a span.
    ///
    /// - Throws: if no head of an answer arrived.
    public func send(_ request: OutboundRequest) async throws(OutboundError) -> HTTPReply {
        switch transport {
        case .general(let client): try await send(request, by: client)
        case .kept(let connections):
            try await connections.send(request, by: deadline, atMost: maxBodyBytes, bodyWithin: bodyTimeout)
        }
    }

    private func send(_ request: OutboundRequest, by client: HTTPClient) async throws(OutboundError) -> HTTPReply {
        let collector = ReplyCollector(maxBodyBytes: maxBodyBytes, bodyTimeout: bodyTimeout.map { TimeAmount($0) })
        do {
            let call = client.execute(
                request: try HTTPClient.Request(request), delegate: collector,
                deadline: .now() + TimeAmount(max(.zero, ContinuousClock.now.duration(to: deadline))))
            return try await withTaskCancellationHandler {
                try await call.get()
            } onCancel: {
                call.cancel()
            }
        } catch {
            return try collector.reply(endedBy: error)
        }
    }
}

/// A request to an external API.
public struct OutboundRequest: Sendable {
    public var url: String
    public var method: HTTPMethod
    public var headers: HTTPHeaders
    public var body: ByteBuffer?

    public init(url: String, method: HTTPMethod = .GET, headers: HTTPHeaders = [:], body: ByteBuffer? = nil) {
        self.url = url
        self.method = method
        self.headers = headers
        self.body = body
    }
}

extension HTTPClient.Request {
    fileprivate init(_ request: OutboundRequest) throws {
        var headers = request.headers
        headers.replaceOrAdd(name: "User-Agent", value: "receipt-relay")
        try self.init(
            url: request.url, method: request.method, headers: headers, body: request.body.map { .byteBuffer($0) })
    }
}

/// An answer whose head arrived. Its body may be incomplete.
public struct HTTPReply: Sendable {
    public var status: Int
    public var headers: HTTPHeaders
    public var body: Result<ByteBuffer, OutboundError>
    /// Arrival of the head.
    public var receivedAt: ContinuousClock.Instant

    public init(
        status: Int, headers: HTTPHeaders = [:], body: Result<ByteBuffer, OutboundError>,
        receivedAt: ContinuousClock.Instant = .now
    ) {
        self.status = status
        self.headers = headers
        self.body = body
        self.receivedAt = receivedAt
    }

    /// The body if all of it arrived.
    public var wholeBody: ByteBuffer? { try? body.get() }

    /// The same reply, for callers that need the whole body.
    ///
    /// - Throws: if the body is incomplete.
    public func whole() throws(OutboundError) -> HTTPReply {
        _ = try body.get()
        return self
    }
}

extension HTTPClient.Configuration {
    /// The configuration of every client of an external API.
    ///
    /// - Redirects are not followed. A redirect could send a token, or a path with a secret, to another server.
    /// - HTTP/1.1 alone. A failed connection attempt fails the call at once: each caller has its own back-off and
    ///   deadline.
    /// - The client does not trace: it would record whole URLs, which hold emails and secrets.
    /// - Bodies are not decompressed: a small answer could become a large one.
    public static func outbound(
        connectTimeout: Duration = .seconds(5), connectionsPerHost: Int = 8
    ) -> HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        configuration.httpVersion = .http1Only
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connectionsPerHost
        configuration.timeout.connect = TimeAmount(min(connectTimeout, .seconds(5)))
        configuration.decompression = .disabled
        configuration.tracing.tracer = nil
        return configuration
    }
}
