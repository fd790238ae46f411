import Formats
import NIOHTTP1
import OutboundHTTP
import RelayCore

@testable import Webhooks

extension FuzzTarget {
    /// Answers of endpoints, and their addresses and secrets.
    static let webhookAnswers = FuzzTarget(
        "webhook-answers",
        seeds: replies([
            "https://example.test:8443/hook?a=b", "http://[2001:db8::1]/x", "whsec_MDEyMzQ1Njc4OWFiY2RlZg==",
        ])
    ) { bytes in
        let reply = FuzzReply(bytes)
        let pause = reply.headers.retryAfter(within: .zero ... .seconds(86_400))
        try FuzzFinding.check(pause, atMost: .seconds(86_400))
        let result = WebhookResult(status: reply.status, retryAfter: pause, latency: .zero)
        let tries = Int(reply.body.first ?? 0)
        if case .again(let pause) = DeliveryOutcome(result, tries: tries, retries: WebhookRetries(), jitter: 0.5) {
            try FuzzFinding.check(pause, atMost: .seconds(2 * 86_400))
        }
        let text = String(decoding: reply.body, as: UTF8.self)
        _ = SigningSecret(text)?.signature(of: reply.body)
        guard let url = WebhookURL(text) else { return }
        _ = IPAddress(url.host).map { AddressPolicy().allows($0) }
    }
}
