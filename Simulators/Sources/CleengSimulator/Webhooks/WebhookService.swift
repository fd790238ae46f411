import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import ServiceLifecycle

/// Sends the events that wait, one after the other, so that they come in the order of what happened; one that nobody
/// takes holds up the rest until it is given up.
struct WebhookService: Service {
    let simulator: Simulator

    /// Between the attempts for one event.
    static let pauses: [Duration] = [.milliseconds(250), .seconds(1), .seconds(4)]
    private static let timeout = TimeAmount.seconds(5)
    /// Grants have no timer of their own: they take effect when somebody looks, and this is who looks.
    private static let glance = Duration.milliseconds(20)

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                if let event = simulator.nextWebhook() {
                    await deliver(event)
                } else {
                    try? await Task.sleep(for: Self.glance)
                }
            }
        }
    }

    private func deliver(_ event: WebhookEvent) async {
        var attempts = 0
        var status: Int?
        // Asked anew each time: after a reset, or under a new address, the old one is not to be bothered any more.
        while !Task.isCancelled, let target = simulator.target(of: event) {
            attempts += 1
            status = await post(event, to: target)
            if status.map({ (200..<300).contains($0) }) == true || attempts > Self.pauses.count { break }
            try? await Task.sleep(for: Self.pauses[attempts - 1])
        }
        simulator.delivered(event, attempts: attempts, status: status)
    }

    /// - Returns: nil where nothing answers.
    private func post(_ event: WebhookEvent, to target: WebhookTarget) async -> Int? {
        var request = HTTPClientRequest(url: target.url)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        request.headers.add(name: target.signatureHeader, value: target.signature(of: event.body))
        request.body = .bytes(ByteBuffer(bytes: event.body))
        guard let response = try? await HTTPClient.shared.execute(request, timeout: Self.timeout) else { return nil }
        // Read to its end, so that the connection can be used again.
        _ = try? await response.body.collect(upTo: 1_024 * 1_024)
        return Int(response.status.code)
    }
}
