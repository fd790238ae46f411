import HTTPTypes
import Hummingbird
import Metrics
import NIOCore
import RelayCore
import RelayStore
import Telemetry

/// `POST /cleeng/webhooks`: what Cleeng tells of its own accord. It is only kept here; a worker acts on it.
struct CleengEventRoutes: Sendable {
    let store: RelayStore
    let signature: EventSignature
    let bodies: BodyReader
    let budget: BodyBudget
    let registry: PrometheusRegistry
    /// There is something to be acted on.
    let onReceived: @Sendable () -> Void

    static func describe(in registry: PrometheusRegistry) {
        registry.describe(
            "cleeng_events", help: "Events that Cleeng sent: stored, repeated, or why they were not taken.")
    }

    var routes: [Route] { [.post("/cleeng/webhooks", receive)] }

    private func receive(_ request: Request, _ context: FrontContext) async throws -> Response {
        do {
            let outcome = try await take(request)
            count(outcome == .stored ? "stored" : "repeated")
        } catch {
            count((error as? Problem)?.code.rawValue ?? "failed")
            throw error
        }
        return .taken
    }

    private func take(_ request: Request) async throws -> ReceiveOutcome {
        let loan = BodyLoan(budget)
        defer { loan.end() }
        let body = Array(try await bodies.read(request, on: loan, ofAnyType: true).readableBytesView)
        guard let name = HTTPField.Name(signature.header), let code = request.headers[name],
            signature.isValid(code, over: body)
        else { throw Problem(.badSignature, "\(signature.header) does not hold the signature of this body") }
        let topic = try Self.topic(of: body)
        guard let now = store.clock.now else { throw Problem(.databaseUnavailable, "send the same request again") }
        let outcome = try await store.receiveEvent(topic: topic, body: body, now: now)
        onReceived()
        return outcome
    }

    /// What has no topic is kept as well: it is Cleeng's.
    private static func topic(of body: [UInt8]) throws -> String {
        do {
            return try body.withUnsafeBytes { bytes in
                var scanner = JSONScanner(bytes)
                var topic = ""
                guard try scanner.kind() == .object else {
                    try scanner.skip(depth: 1)
                    try scanner.end()
                    return ""
                }
                try scanner.object(depth: 1) { (scanner, name) throws(JSONSyntaxError) in
                    let field = try JSONField(&scanner, depth: 2)
                    if name == "topic", case .string(let text) = field { topic = text }
                }
                try scanner.end()
                return topic
            }
        } catch let error as JSONSyntaxError {
            throw Problem(.notJSON, "the body stops being JSON in UTF-8 at byte \(error.offset)")
        }
    }

    private func count(_ result: String) {
        Counter(label: "cleeng_events", dimensions: [("result", result)], factory: registry).increment()
    }
}
