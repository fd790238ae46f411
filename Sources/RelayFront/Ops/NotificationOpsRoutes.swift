import Formats
import HTTPTypes
import Hummingbird
import RelayCore
import RelayStore

/// `GET /ops/notifications`, `GET /ops/notifications/{id}` and `POST /ops/notifications/{id}/replay`.
struct NotificationOpsRoutes: Sendable {
    let store: RelayStore
    let authenticator: Authenticator
    let actions: OpsActions

    var routes: [Route] {
        [
            .get("/ops/notifications", list), .get("/ops/notifications/:id", detail),
            .post("/ops/notifications/:id/replay", replay),
        ]
    }

    private func list(_ request: Request, _ context: FrontContext) async throws -> Response {
        let scope = try await authenticator.key(request, context, opening: .opsViewer).opsScope
        var page = PageQuery(QueryItems(request.uri.query))
        let filter = NotificationFilter(
            relay: page.choice("status", OpsNotification.RelayStatus.allCases.map { ($0.name, $0) }),
            originalTransactionID: page.originalTransactionID(), limit: page.limit(),
            cursor: page.cursor { ValidationCursor($0) })
        try page.end()
        let (items, next) = try await store.notifications(matching: filter, in: scope)
        var writer = JSONWriter(capacity: 64 + items.count * 512)
        writer.beginObject()
        writer.beginArray("items")
        for item in items {
            writer.beginObject()
            writer.notification(item)
            writer.endObject()
        }
        writer.endArray()
        writer.field("nextCursor", next?.description)
        writer.endObject()
        return .json(writer)
    }

    private func detail(_ request: Request, _ context: FrontContext) async throws -> Response {
        let scope = try await authenticator.key(request, context, opening: .opsViewer).opsScope
        let (item, body) = try await find(context, scope)
        var writer = JSONWriter(capacity: 1_024 + body.value.count)
        writer.beginObject()
        writer.notification(item)
        let content = NotificationContent(body.value)
        writer.field("payload", json: content.payload)
        writer.field("transaction", json: content.transaction)
        writer.field("renewalInfo", json: content.renewal)
        writer.endObject()
        return .json(writer)
    }

    private func replay(_ request: Request, _ context: FrontContext) async throws -> Response {
        let key = try await authenticator.key(request, context, opening: .opsOperator)
        let id = try await find(context, key.opsScope).0.id
        try await actions.replayNotification(id, in: key.opsScope, by: key.actor)
        var writer = JSONWriter(capacity: 512)
        writer.beginObject()
        writer.notification(try await find(context, key.opsScope).0)
        writer.endObject()
        return .json(writer, status: .accepted)
    }

    private func find(
        _ context: FrontContext, _ scope: OpsScope
    ) async throws -> (OpsNotification, body: Private<[UInt8]>) {
        guard let id = context.parameters.get("id").flatMap({ NotificationID($0) }),
            let found = try await store.notification(id, in: scope)
        else { throw Problem(.unknownNotification, "nothing is known by this id") }
        return found
    }
}

extension JSONWriter {
    fileprivate mutating func notification(_ item: OpsNotification) {
        field("id", item.id.description)
        field("version", Int(item.version))
        field("notificationUUID", item.uuid)
        field("type", item.type)
        field("subtype", item.subtype)
        field("originalTransactionId", item.originalTransactionID)
        field("environment", item.environment)
        field("bundleId", item.bundleID)
        field("publisher", item.publisher)
        field("signedDate", item.signedAt)
        field("receivedAt", item.receivedAt)
        beginObject("relay")
        field("status", item.relay.name)
        field("attempts", item.attempts)
        field("deliveredAt", item.relayedAt)
        field("lastError", item.lastError)
        endObject()
    }
}
