public import AsyncHTTPClient
import OutboundHTTP

extension CleengConfiguration {
    /// The configuration of the HTTP client for Cleeng.
    public var httpClientConfiguration: HTTPClient.Configuration {
        .outbound(connectTimeout: upstreamTimeout, connectionsPerHost: connectionsPerHost)
    }
}
