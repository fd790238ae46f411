import Formats
import HTTPTypes
import Hummingbird
import RelayCore
import RelayStore

/// `GET /ops/events`, `POST /ops/events/{id}/replay` and `POST /ops/subscriptions/{id}/replay`.
struct EventOpsRoutes: Sendable {
    let store: RelayStore
    let authenticator: Authenticator

    var routes: [Route] {
        [
            .get("/ops/events", list), .post("/ops/events/:id/replay", replay),
            .post("/ops/subscriptions/:id/replay", replaySubscription),
        ]
    }

    static func filter(_ page: inout PageQuery) -> EventFilter {
        EventFilter(
            status: page.choice("status", OpsEvent.Status.allCases.map { ($0.rawValue, $0) }), limit: page.limit(),
            cursor: page.cursor { ValidationCursor($0) })
    }

    private func list(_ request: Request, _ context: FrontContext) async throws -> Response {
        let scope = try await authenticator.key(request, context, opening: .opsViewer).opsScope
        var page = PageQuery(QueryItems(request.uri.query))
        let filter = Self.filter(&page)
        try page.end()
        let (items, next) = try await store.events(matching: filter, in: scope)
        var writer = JSONWriter(capacity: 64 + items.count * 384)
        writer.beginObject()
        writer.beginArray("items")
        for item in items {
            writer.beginObject()
            writer.event(item)
            writer.endObject()
        }
        writer.endArray()
        writer.field("nextCursor", next?.description)
        writer.endObject()
        return .json(writer)
    }

    private func replay(_ request: Request, _ context: FrontContext) async throws -> Response {
        let key = try await authenticator.key(request, context, opening: .opsOperator)
        let text = context.parameters.get("id")
        guard let text, let id = NotificationID(text),
            try await store.replayEvent(id, in: key.opsScope, by: key.actor, reason: nil)
        else { throw Problem(.unknownEvent, "nothing is known by this id") }
        return Self.accepted(text)
    }

    private func replaySubscription(_ request: Request, _ context: FrontContext) async throws -> Response {
        let key = try await authenticator.key(request, context, opening: .opsOperator)
        let text = context.parameters.get("id")
        guard let text, let id = SubscriptionCursor(text),
            try await store.replaySubscription(id.name, in: key.opsScope, by: key.actor, reason: nil)
        else { throw Problem(.unknownSubscription, "nothing is known by this id") }
        return Self.accepted(text)
    }

    private static func accepted(_ id: String) -> Response {
        var writer = JSONWriter(capacity: 256)
        writer.beginObject()
        writer.field("id", id)
        writer.endObject()
        return .json(writer, status: .accepted)
    }
}

extension JSONWriter {
    fileprivate mutating func event(_ item: OpsEvent) {
        field("id", item.id.description)
        field("topic", item.topic)
        field("account", item.account)
        field("receivedAt", item.receivedAt)
        field("status", item.status.rawValue)
        field("attempts", item.attempts)
        field("outcome", item.outcome)
        field("lastError", item.lastError)
        field("parkedAt", item.parkedAt)
        field("nextTryAt", item.nextTryAt)
    }
}
