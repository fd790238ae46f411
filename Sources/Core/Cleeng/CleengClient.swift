import Formats
public import Logging
import NIOCore
import NIOHTTP1
public import OutboundHTTP
public import RelayCore

/// Client of Cleeng's APIs. Calls never throw: each returns an answer within its deadline.
///
/// Logs only at debug level, and never a customer: route, status and time.
public struct CleengClient: Sendable {
    let configuration: CleengConfiguration
    private let connections: KeptConnections
    let logger: Logger
    /// Kept well below two weeks, the shortest lifetime of Cleeng's tokens.
    let tokens = LifetimeCache<EmailAddress, Secret>(lifetime: .seconds(24 * 3600))
    /// Emails by customer number. A customer may change the email, so each is kept for minutes only.
    let emails = LifetimeCache<Int64, String>(lifetime: .seconds(600))

    /// - Parameter connections: from ``CleengConfiguration/connections(ofAccounts:)``; shut down by their creator.
    public init(_ configuration: CleengConfiguration, connections: KeptConnections, logger: Logger) {
        self.configuration = configuration
        self.connections = connections
        self.logger = logger
    }

    /// Reads what the customer has access to, from the configured source.
    ///
    /// - Parameters:
    ///   - offers: each gets an entry in the answer. An offer without a country (`S123456789`) matches that of any
    ///     country.
    ///   - timeout: bound of the whole read; nil: ``CleengConfiguration/upstreamTimeout``.
    public func entitlements(
        customerEmail: EmailAddress, offers: [OfferID], timeout: Duration? = nil
    ) async -> EntitlementReply {
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
        _ request: OutboundRequest, route: String, deadline: ContinuousClock.Instant
    ) async throws(CleengTrouble) -> HTTPReply {
        let start = ContinuousClock.now
        do {
            let exchange = HTTPExchange(connections, by: deadline, atMost: configuration.maxResponseBytes)
            let reply = try await exchange.send(request, route: route)
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
                    "route": "\(route)", "error": "\(CleengTrouble(error))",
                    "duration_ms": .stringConvertible(start.duration(to: .now) / .milliseconds(1)),
                ])
            throw CleengTrouble(error)
        }
    }

    func headers() -> HTTPHeaders {
        ["Accept": "application/json", "X-Publisher-Token": configuration.publisherToken.exposed]
    }

    /// - Parameter customerEmail: customer of the call, if it names one.
    func scrubber(for customerEmail: EmailAddress? = nil) -> MessageScrubber {
        let email = customerEmail?.text
        return MessageScrubber(
            hiding: [configuration.publisherToken.exposed, email, email?.percentEncoded].compactMap(\.self))
    }
}

extension CleengConfiguration {
    /// Connections for this many accounts. Calls that hang for one account leave enough for the others.
    public func connections(ofAccounts count: Int = 1) -> KeptConnections {
        KeptConnections(connectTimeout: upstreamTimeout, connectionsPerHost: connectionsPerHost * count)
    }
}
