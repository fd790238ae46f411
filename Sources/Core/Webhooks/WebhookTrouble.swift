public import Formats
public import OutboundHTTP
import RelayCore

/// Why a message did not reach an endpoint, in words for operators.
public enum WebhookTrouble: Error, Equatable, CustomStringConvertible {
    case url
    case plain
    case unresolved
    case busyResolving
    case refused(IPAddress)
    case exchange(OutboundError)

    static let timeout = exchange(.timeout)
    static let cancelled = exchange(.cancelled)

    public var description: String {
        switch self {
        case .url: "the URL is not \(WebhookURL.rule)"
        case .plain: "the URL is http, and RELAY_REQUIRE_TLS is true"
        case .unresolved: "the host name could not be resolved"
        case .busyResolving: "too many host names are being looked up"
        case .refused(let address):
            "\(address) is in a range that messages are not sent to; RELAY_WEBHOOK_ALLOW_NETWORKS can allow it"
        case .exchange(.timeout): "no answer in time"
        case .exchange(.cancelled): "broken off"
        case .exchange(.connectionFailed): "no connection could be made"
        case .exchange(.connectionClosed): "the connection ended before the answer"
        case .exchange(.tls): "no TLS connection could be made: is the certificate good for this host?"
        case .exchange(.unreadable), .exchange(.responseTooLarge): "the answer was not HTTP"
        }
    }

    var verdict: WebhookResult.Verdict {
        switch self {
        case .exchange(.cancelled): .cancelled
        case .busyResolving: .postponed
        case .refused, .url, .plain: .refused
        default: .failed
        }
    }
}
