import HTTPServer
import HTTPTypes
import Hummingbird
import Metrics
import RelayCore
import Telemetry

/// `POST /cleeng/webhooks`: stores Cleeng's events. A worker acts on them.
struct CleengEventRoutes: Sendable {
    let store: RelayStore
    /// Signing keys by account; not empty.
    let signatures: [(account: PublisherID?, signature: EventSignature)]
    let bodies: BodyReader
    let budget: BodyBudget
    let registry: PrometheusRegistry

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
        let account = try account(thatSigned: body, request.headers)
        let topic = try Self.topic(of: body)
        let now = try store.memory.clock.required()
        let outcome = try await store.events.receive(topic: topic, body: body, account: account, now: now)
        store.memory.signal(.events)
        return outcome
    }

    /// - Throws: ``Problem`` if no known account signed it.
    private func account(thatSigned body: [UInt8], _ headers: HTTPFields) throws -> PublisherID? {
        for (account, signature) in signatures {
            if let name = HTTPField.Name(signature.header), let code = headers[name],
                signature.isValid(code, over: body)
            {
                return account
            }
        }
        let names = Set(signatures.map(\.signature.header)).sorted().joined(separator: " or ")
        throw Problem(.badSignature, "\(names) does not hold the signature of this body")
    }

    /// The topic of an event; empty if it has none. Such events are stored too, since Cleeng signed them.
    private static func topic(of body: [UInt8]) throws -> String {
        do {
            return try body.withUnsafeBytes { bytes in
                var scanner = JSONScanner(bytes)
                scanner.skipByteOrderMark()
                var topic = ""
                guard try scanner.kind() == .object else {
                    try scanner.skip(depth: 1)
                    try scanner.end()
                    return ""
                }
                try scanner.object(depth: 1) { (scanner, name) throws(JSONSyntaxError) in
                    guard name == "topic" else { return try scanner.skip(depth: 2) }
                    if case .string(let text) = try JSONField(&scanner, depth: 2) { topic = text }
                }
                try scanner.end()
                return topic
            }
        } catch let error as JSONSyntaxError {
            throw error.problem
        }
    }

    private func count(_ result: String) {
        Counter(label: "cleeng_events", dimensions: [("result", result)], factory: registry).increment()
    }
}
