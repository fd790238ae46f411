import AsyncHTTPClient
import Logging
import NIOCore
import NIOHTTP1
public import RelayCore
import TracedHTTP

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Cleeng's wire. Nothing throws: every call ends in an answer that says what is known, and within its deadline.
///
/// Logs at debug level alone, and no customer: route, status, time.
public struct CleengClient: Sendable {
    let configuration: CleengConfiguration
    let upstream: Upstream
    let logger: Logger
    let tokens: CustomerTokenCache
    let now: @Sendable () -> Int64

    /// - Parameters:
    ///   - httpClient: made with ``CleengConfiguration/httpClientConfiguration``, and shut down by who made it.
    ///   - now: our clock in seconds since 1970; only for a `Retry-After` date in an answer without a `Date`.
    public init(
        _ configuration: CleengConfiguration, httpClient: HTTPClient, logger: Logger,
        now: @escaping @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970) }
    ) {
        self.configuration = configuration
        self.upstream = Upstream(httpClient: httpClient, maxResponseBytes: configuration.maxResponseBytes)
        self.logger = logger
        self.tokens = CustomerTokenCache()
        self.now = now
    }

    /// Reads what the customer has access to, from the configured source.
    ///
    /// - Parameters:
    ///   - offers: each gets an entry in the answer. One without a country (`S123456789`) is entitled by any country's.
    ///   - timeout: for the whole read, instead of ``CleengConfiguration/upstreamTimeout``.
    public func entitlements(
        customerEmail: EmailAddress, offers: [OfferID], timeout: Duration? = nil
    ) async -> EntitlementAnswer {
        let start = ContinuousClock.now
        let deadline = start + (timeout ?? configuration.upstreamTimeout)
        var answer =
            switch configuration.entitlementSource {
            case .entitlements:
                await readEntitlements(customerEmail: customerEmail, offers: offers, deadline: deadline)
            case .accessibleTags:
                await readAccessibleTags(customerEmail: customerEmail, offers: offers, deadline: deadline)
            }
        answer.latency = start.duration(to: .now)
        return answer
    }

    func send(
        _ request: HTTPClientRequest, route: String, deadline: ContinuousClock.Instant
    ) async throws(CleengTrouble) -> UpstreamReply {
        let start = ContinuousClock.now
        var request = request
        let span = ClientSpan.start(request.method, route, url: request.url, headers: &request.headers)
        do {
            let reply = try await upstream.send(request, deadline: deadline)
            span.end(status: reply.status)
            logger.debug(
                "cleeng answered",
                metadata: [
                    "route": "\(route)", "upstream_status": .stringConvertible(reply.status),
                    "duration_ms": .stringConvertible(start.duration(to: .now) / .milliseconds(1)),
                ])
            return reply
        } catch {
            logger.debug(
                "cleeng did not answer",
                metadata: [
                    "route": "\(route)", "error": "\(error.shortDescription)",
                    "duration_ms": .stringConvertible(start.duration(to: .now) / .milliseconds(1)),
                ])
            span.end(trouble: error.shortDescription)
            throw error
        }
    }

    func headers() -> HTTPHeaders {
        [
            "Accept": "application/json", "User-Agent": "receipt-relay",
            "X-Publisher-Token": configuration.publisherToken.exposed,
        ]
    }

    /// - Parameter customerEmail: whom the call is about, where it names one.
    func scrubber(for customerEmail: EmailAddress? = nil) -> MessageScrubber {
        MessageScrubber(hiding: [configuration.publisherToken.exposed, customerEmail?.text].compactMap(\.self))
    }
}
