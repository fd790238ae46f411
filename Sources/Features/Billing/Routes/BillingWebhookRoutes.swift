import Foundation
import HTTPServer
import Hummingbird
import NIOCore
import Relay
import RelayCore
import Webhooks

/// Routes of a publisher's webhooks for orders and contracts.
struct BillingWebhookRoutes: Sendable {
    let billing: BillingContext

    /// Per publisher.
    private static let mostEndpoints = 100
    private static let mostEvents = 100
    private static let names = FieldNames(["Url", "Events"], inAnyCase: true)

    var routes: [Route] {
        [
            .get("/api/v1/webhooks", list), .post("/api/v1/webhooks", add),
            .delete("/api/v1/webhooks/:id", remove),
        ]
    }

    private func list(_ request: Request, _ context: FrontContext) async throws -> Response {
        let publisher = try await billing.publisher(request, context)
        return BillingContext.list(try await endpoints(of: publisher), BillingJSON.webhook)
    }

    private func add(_ request: Request, _ context: FrontContext) async throws -> Response {
        let publisher = try await billing.publisher(request, context)
        let loan = BodyLoan(billing.parts.budget)
        defer { loan.end() }
        let (url, events) = try read(try await billing.body(request, on: loan))
        guard try await endpoints(of: publisher).count < Self.mostEndpoints else {
            throw Problem(.invalidFields, "there are \(Self.mostEndpoints) webhooks already; delete one first")
        }
        guard
            let id = try await billing.store.webhooks.addEndpoint(
                publisher: publisher, kind: .events(events), url: url),
            let endpoint = try await billing.store.webhooks.endpoint(id, in: .publisher(publisher))
        else { throw Problem(.notFound, "the publisher is no longer there") }
        return BillingContext.one(endpoint, status: .created, BillingJSON.webhook)
    }

    /// Answers with a body, since some clients always parse one.
    private func remove(_ request: Request, _ context: FrontContext) async throws -> Response {
        let publisher = try await billing.publisher(request, context)
        guard let id = context.parameters.get("id").flatMap({ EndpointID($0) }),
            let endpoint = try await billing.store.webhooks.endpoint(id, in: .publisher(publisher)),
            endpoint.kind != .purchases,
            try await billing.store.webhooks.removeEndpoint(id)
        else { throw BillingContext.unknown("webhook") }
        return .taken
    }

    private func endpoints(of publisher: PublisherID) async throws -> [WebhookEndpoint] {
        try await billing.store.webhooks.endpoints(in: .publisher(publisher)).filter { $0.kind != .purchases }
    }

    /// Reads an endpoint. Without events it receives every event of the relay.
    private func read(_ bytes: ByteBuffer) throws -> (url: String, events: [String]) {
        var reader = try FieldReader(bytes, Self.names)
        let url = reader.text("Url", characters: 2_048)
        if reader["Url"] == .absent { reader.add("Url", .required, "is required") }
        switch url.map({ WebhookURL($0) }) {
        case .some(nil): reader.add("Url", .invalid, "must be \(WebhookURL.rule)")
        case .some(let url?) where billing.parts.requiresTLS && !url.isSecure:
            reader.add("Url", .invalid, "must be an https URL")
        default: break
        }
        var names: [String] = []
        switch reader["Events"] {
        case .absent: break
        case .string(let name): names = [name]
        case let field:
            let list: [String]? =
                if case .array(let text) = field {
                    try? JSONDecoder().decode([String].self, from: Data(text.utf8))
                } else { nil }
            names = list ?? reader.refuse("Events", wants: "a list of names", not: field.kind) ?? []
        }
        let known = names.compactMap { BillingEvent(name: $0) }
        if names.count > Self.mostEvents || known.count < names.count {
            let all = BillingEvent.allCases.map(\.rawValue).joined(separator: ", ")
            reader.add("Events", .invalid, "must be some of \(all)")
        }
        guard reader.errors.isEmpty, let url else { throw Problem.invalidFields(reader.errors) }
        var seen: Set<BillingEvent> = []
        let events = known.filter { seen.insert($0).inserted }
        return (url, (events.isEmpty ? BillingEvent.allCases : events).map(\.rawValue))
    }
}
