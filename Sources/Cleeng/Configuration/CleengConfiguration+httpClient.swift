import AsyncHTTPClient
import NIOCore

extension CleengConfiguration {
    /// How the HTTP client for Cleeng has to be made.
    ///
    /// - No redirect is followed: it would carry the publisher token to wherever it points.
    /// - HTTP/1.1 alone, and as many connections as configured instead of eight.
    /// - A connection that cannot be made fails at once: the caller has its own back-off, and the client's would use
    ///   up the deadline of the call.
    /// - No tracing by the client: it records the whole URL, and an entitlement read's holds the customer's email.
    public var httpClientConfiguration: HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        configuration.httpVersion = .http1Only
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connectionsPerHost
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.timeout.connect = min(.seconds(5), TimeAmount(upstreamTimeout))
        configuration.decompression = .disabled
        configuration.tracing.tracer = nil
        return configuration
    }
}
