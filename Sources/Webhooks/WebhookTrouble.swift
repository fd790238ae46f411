import RelayCore

/// Why a message did not reach an endpoint, in words fit for ops.
struct WebhookTrouble: Error, Equatable, CustomStringConvertible {
    enum Code: Equatable {
        case timeout, cancelled
        case url
        case plain
        case unresolved
        case busyResolving
        case refused(IPAddress)
        case connectionFailed
        case connectionClosed
        case tls
        case unreadable
    }

    let code: Code

    init(_ code: Code) { self.code = code }

    var description: String {
        switch code {
        case .timeout: "no answer in time"
        case .cancelled: "broken off"
        case .url: "the URL is not \(WebhookURL.rule)"
        case .plain: "the URL is http, and RELAY_REQUIRE_TLS is true"
        case .unresolved: "the host name could not be resolved"
        case .busyResolving: "too many host names are being looked up"
        case .refused(let address):
            "\(address) is in a range that messages are not sent to; RELAY_WEBHOOK_ALLOW_NETWORKS can allow it"
        case .connectionFailed: "no connection could be made"
        case .connectionClosed: "the connection ended before the answer"
        case .tls: "no TLS connection could be made: is the certificate good for this host?"
        case .unreadable: "the answer was not HTTP"
        }
    }

    var verdict: WebhookResult.Verdict {
        switch code {
        case .cancelled: .cancelled
        case .busyResolving: .postponed
        case .refused, .url, .plain: .refused
        default: .failed
        }
    }
}
