public import AsyncHTTPClient
import NIOCore
public import NIOHTTP1

/// One request and its whole answer, by one deadline and within one number of bytes.
///
/// The HTTP client's own deadline ends with the head of an answer; this one covers the body as well.
public struct HTTPExchange: Sendable {
    private let client: HTTPClient
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
        self.client = client
        self.deadline = deadline
        self.maxBodyBytes = maxBodyBytes
        self.bodyTimeout = bodyTimeout
    }

    /// Sends the request under a client span.
    ///
    /// - Parameter route: span name, without anything that tells one customer from another.
    /// - Throws: where no head of an answer arrived.
    public func send(_ request: HTTPClientRequest, route: String) async throws(OutboundError) -> HTTPReply {
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
    /// - Throws: where no head of an answer arrived.
    public func send(_ request: HTTPClientRequest) async throws(OutboundError) -> HTTPReply {
        var request = request
        request.headers.replaceOrAdd(name: "User-Agent", value: "receipt-relay")
        let response: HTTPClientResponse
        do {
            response = try await client.execute(request, deadline: .now() + timeLeft(until: deadline))
        } catch {
            throw OutboundError(error, afterHead: false)
        }
        let receivedAt = ContinuousClock.now
        return HTTPReply(
            status: Int(response.status.code), headers: response.headers, body: await body(of: response),
            receivedAt: receivedAt)
    }

    private func body(of response: HTTPClientResponse) async -> Result<ByteBuffer, OutboundError> {
        let announced = response.headers.first(name: "Content-Length").flatMap { Int($0) }
        guard announced ?? 0 <= maxBodyBytes else { return .failure(.responseTooLarge) }
        // An empty body has ended already and needs no clock.
        if announced == 0 || response.status == .noContent { return await collect(response.body) }
        let end = bodyTimeout.map { min(deadline, .now + $0) } ?? deadline
        let reading = Task { await collect(response.body) }
        let timer = client.eventLoopGroup.any().scheduleTask(in: timeLeft(until: end)) { reading.cancel() }
        defer { timer.cancel() }
        let body = await withTaskCancellationHandler {
            await reading.value
        } onCancel: {
            reading.cancel()
        }
        // The timer cancelled the reading, unless our caller did.
        return body.mapError { $0 == .cancelled && !Task.isCancelled ? .timeout : $0 }
    }

    private func collect(_ body: HTTPClientResponse.Body) async -> Result<ByteBuffer, OutboundError> {
        var collected = ByteBuffer()
        do {
            for try await chunk in body {
                guard collected.readableBytes + chunk.readableBytes <= maxBodyBytes else {
                    return .failure(.responseTooLarge)
                }
                collected.writeImmutableBuffer(chunk)
            }
            // A cancelled body may end like a whole one.
            return Task.isCancelled ? .failure(.cancelled) : .success(collected)
        } catch {
            return .failure(OutboundError(error, afterHead: true))
        }
    }

    private func timeLeft(until end: ContinuousClock.Instant) -> TimeAmount {
        TimeAmount(max(.zero, ContinuousClock.now.duration(to: end)))
    }
}

/// An answer whose head arrived. Its body may not have.
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

    /// The body where all of it arrived.
    public var wholeBody: ByteBuffer? { try? body.get() }

    /// The same reply.
    ///
    /// - Throws: where not all of the body arrived, for callers that judge by it.
    public func whole() throws(OutboundError) -> HTTPReply {
        _ = try body.get()
        return self
    }
}

extension HTTPClient.Configuration {
    /// The configuration of every client that calls somebody else's API.
    ///
    /// - No redirect is followed: it would carry a token, or a path with a secret, to wherever it points.
    /// - HTTP/1.1 alone; a connection that cannot be made fails at once, since each caller has its own back-off and deadline.
    /// - No tracing by the client: it records whole URLs, which hold emails and secrets.
    /// - Nothing is unpacked: a small answer could become a large one.
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
