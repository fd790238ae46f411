import Formats
import HTTPTypes
import Hummingbird
import RelayCore
import RelayStore

/// `GET /ops/webhooks`, `GET /ops/webhooks/endpoints` and `POST /ops/webhooks/{id}/replay`.
struct WebhookOpsRoutes: Sendable {
    let store: RelayStore
    let authenticator: Authenticator
    let actions: OpsActions

    var routes: [Route] {
        let reads: [Route] = [.get("/ops/webhooks", list), .get("/ops/webhooks/endpoints", endpoints)]
        return actions.repeater == nil ? reads : reads + [.post("/ops/webhooks/:id/replay", replay)]
    }

    private func list(_ request: Request, _ context: FrontContext) async throws -> Response {
        let scope = try await authenticator.key(request, context, opening: .opsViewer).opsScope
        var page = PageQuery(QueryItems(request.uri.query))
        let filter = DeliveryFilter(
            state: page.choice("state", DeliveryState.allCases.map { ($0.name, $0) }), endpoint: page.endpoint(),
            applicationUsername: Username(page.applicationUsername()), limit: page.limit(),
            cursor: page.cursor { ValidationCursor($0) })
        try page.end()
        let (items, next) = try await store.deliveries(matching: filter, in: scope)
        var writer = JSONWriter(capacity: 64 + items.count * 512)
        writer.beginObject()
        writer.beginArray("items")
        for item in items {
            writer.beginObject()
            writer.delivery(item)
            writer.endObject()
        }
        writer.endArray()
        writer.field("nextCursor", next?.description)
        writer.endObject()
        return .json(writer)
    }

    private func endpoints(_ request: Request, _ context: FrontContext) async throws -> Response {
        let scope = try await authenticator.key(request, context, opening: .opsViewer).opsScope
        let endpoints = try await store.endpoints(in: scope)
        var writer = JSONWriter(capacity: 64 + endpoints.count * 384)
        writer.beginObject()
        writer.beginArray("items")
        for endpoint in endpoints {
            writer.beginObject()
            writer.endpoint(endpoint)
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
        return .json(writer)
    }

    /// Tells the same endpoint the customer's state as it is now, as a new message. One that is parked is delivered as it is.
    private func replay(_ request: Request, _ context: FrontContext) async throws -> Response {
        let key = try await authenticator.key(request, context, opening: .opsOperator)
        // A `webhook-id` may have the mark of a changed password behind it.
        guard let text = context.parameters.get("id")?.parts(at: ".", maxSplits: 1).first,
            let id = DeliveryID(text)
        else { throw Problem(.unknownDelivery, "nothing is known by this id") }
        let written = try await actions.replayWebhook(id, in: key.opsScope, by: key.actor)
        var writer = JSONWriter(capacity: 512)
        writer.beginObject()
        writer.delivery(written)
        writer.endObject()
        return .json(writer, status: .accepted)
    }
}

extension PageQuery {
    mutating func endpoint() -> EndpointID? {
        guard let text = query["endpoint"] else { return nil }
        let id = EndpointID(text)
        if id == nil { reader.add(FieldError("endpoint", .invalid, "must be 24 hexadecimal digits")) }
        return id
    }

    mutating func applicationUsername() -> String? {
        guard let text = query["applicationUsername"] else { return nil }
        guard (1...512).contains(text.unicodeScalars.count), !text.unicodeScalars.contains("\0") else {
            reader.add(FieldError("applicationUsername", .invalid, "must be 1 to 512 characters, and none of them NUL"))
            return nil
        }
        return text
    }
}

extension JSONWriter {
    fileprivate mutating func delivery(_ item: OpsDelivery) {
        field("id", item.id.description)
        field("endpoint", item.endpoint)
        field("url", item.url)
        field("publisher", item.publisher)
        field("applicationUsername", item.applicationUsername)
        field("state", item.state.name)
        field("tries", item.tries)
        field("lastStatus", item.lastStatus)
        field("lastError", item.lastError)
        field("createdAt", item.createdAt)
        field("finishedAt", item.finishedAt)
        field("nextTryAt", item.nextTryAt)
    }

    fileprivate mutating func endpoint(_ endpoint: WebhookEndpoint) {
        field("id", endpoint.id.description)
        field("url", endpoint.url)
        field("publisher", endpoint.publisher)
        field("environment", endpoint.environment.name)
        field("state", endpoint.isActive ? "active" : "disabled")
        field("disabledReason", endpoint.disabledReason)
        field("disabledAt", endpoint.disabledAt)
        field("failingSince", endpoint.failingSince)
        field("lastSuccessAt", endpoint.lastSuccessAt)
        field("createdAt", endpoint.createdAt)
        field("fromSettings", endpoint.isFromSettings)
        guard case .events(let names) = endpoint.kind else { return }
        beginArray("events")
        for name in names { value(name) }
        endArray()
    }
}
