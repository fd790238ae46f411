public import AsyncHTTPClient
import NIOCore

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
