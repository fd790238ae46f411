package import AsyncHTTPClient
package import NIOCore
package import NIOHTTP1
import TracedHTTP

/// An answer of a store as it came.
package struct StoreReply: Sendable {
    package var status: Int
    package var headers: HTTPHeaders
    package var body: ByteBuffer

    /// One that could not be had: a word of a fixed set, since the client's own errors hold addresses.
    package struct Failure: Error, Equatable {
        package var word: String
    }

    /// Sends a request and reads all of the answer by one deadline: the client's own ends with the head.
    ///
    /// - Parameter route: what it is called in traces, without what tells one purchase from another.
    package static func of(
        _ request: HTTPClientRequest, route: String, _ httpClient: HTTPClient, by deadline: ContinuousClock.Instant,
        atMost bytes: Int
    ) async throws(Failure) -> StoreReply {
        var request = request
        let span = ClientSpan.start(request.method, route, url: request.url, headers: &request.headers)
        do {
            let reply = try await exchange(request, httpClient, by: deadline, atMost: bytes)
            span.end(status: reply.status)
            return reply
        } catch {
            span.end(trouble: error.word)
            throw error
        }
    }

    private static func exchange(
        _ request: HTTPClientRequest, _ httpClient: HTTPClient, by deadline: ContinuousClock.Instant,
        atMost bytes: Int
    ) async throws(Failure) -> StoreReply {
        let result = await withTaskGroup(of: Result<StoreReply, Failure>?.self) { group in
            group.addTask {
                do {
                    let left = TimeAmount(max(.zero, ContinuousClock.now.duration(to: deadline)))
                    let response = try await httpClient.execute(request, timeout: max(.milliseconds(1), left))
                    let body = try await response.body.collect(upTo: bytes)
                    return .success(
                        StoreReply(status: Int(response.status.code), headers: response.headers, body: body))
                } catch {
                    return .failure(Failure(error))
                }
            }
            group.addTask {
                try? await Task.sleep(until: deadline, clock: .continuous)
                return nil
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            return first ?? .failure(Failure(word: Task.isCancelled ? "cancelled" : "timeout"))
        }
        return try result.get()
    }
}

extension StoreReply.Failure {
    init(_ error: any Error) {
        let late: [HTTPClientError] = [
            .deadlineExceeded, .connectTimeout, .readTimeout, .writeTimeout, .tlsHandshakeTimeout,
            .getConnectionFromPoolTimeout,
        ]
        switch error {
        case is NIOTooManyBytesError: word = "too_large"
        case is CancellationError: word = "cancelled"
        case let error as HTTPClientError where late.contains(error): word = "timeout"
        case let error as HTTPClientError where error == .cancelled: word = "cancelled"
        default: word = "connection"
        }
    }
}

extension HTTPClient.Configuration {
    /// How the HTTP client for a store has to be made.
    ///
    /// - No redirect is followed: it would carry a token, or a path with a secret, to wherever it points.
    /// - HTTP/1.1 alone; a connection that cannot be made fails at once, since the caller has its own back-off.
    /// - No tracing by the client: it records the whole URL.
    /// - Nothing is unpacked: a small answer could become a large one.
    package static var store: HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        configuration.httpVersion = .http1Only
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.timeout.connect = .seconds(5)
        configuration.decompression = .disabled
        configuration.tracing.tracer = nil
        return configuration
    }
}
