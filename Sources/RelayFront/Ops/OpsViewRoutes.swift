import Formats
import Hummingbird
import Operations
import RelayCore
import RelayStore

/// `GET /ops/…`: what operators see.
struct OpsViewRoutes: Sendable {
    let store: RelayStore
    let authenticator: Authenticator

    var routes: [Route] {
        [
            list("/ops/validations", .validations), list("/ops/subscriptions", .subscriptions),
            list("/ops/access", .accessProblems), list("/ops/transfers", .transfers),
            list("/ops/notifications", .notifications), list("/ops/events", .events),
            list("/ops/webhooks", .messages), .get("/ops/validations/:id", validation),
            .get("/ops/notifications/:id", notification),
            view("/ops/webhooks/endpoints") { scope, writer in
                let endpoints = try await store.endpoints(in: scope)
                writer.beginObject()
                writer.array("items", endpoints)
                writer.endObject()
            },
            view("/ops/summary") { scope, writer in writer.value(try await store.summary(in: scope)) },
            view("/ops/offers") { scope, writer in
                async let unmapped = store.unmappedOffers(in: scope)
                let offers = try await store.offers(in: scope).map { PublishersOffer($0) }
                writer.beginObject()
                writer.array("items", offers)
                writer.array("unmapped", try await unmapped)
                writer.endObject()
            },
        ]
    }

    private func list<Item: Viewed>(_ path: String, _ list: OpsList<Item>) -> Route {
        .get(path) { request, context in
            let scope = try await authenticator.key(request, context, opening: .opsViewer).opsScope
            let (items, next) = try await list.read(QueryItems(request.uri.query), store, scope)
            var writer = JSONWriter(capacity: 64 + items.count * 512)
            writer.page(items, next: next)
            return .json(writer)
        }
    }

    private func view(
        _ path: String, _ write: @escaping @Sendable (OpsScope, inout JSONWriter) async throws -> Void
    ) -> Route {
        .get(path) { request, context in
            let scope = try await authenticator.key(request, context, opening: .opsViewer).opsScope
            var writer = JSONWriter(capacity: 4_096)
            try await write(scope, &writer)
            return .json(writer)
        }
    }

    private func validation(_ request: Request, _ context: FrontContext) async throws -> Response {
        let scope = try await authenticator.key(request, context, opening: .opsViewer).opsScope
        guard let id = context.parameters.get("id").flatMap({ ValidationID($0) }),
            let detail = try await store.detail(id, in: scope)
        else { throw Problem(OpsRefusal.unknown) }
        context.notes.validation = id
        var writer = JSONWriter(capacity: 4_096)
        writer.value(detail)
        return .json(writer)
    }

    private func notification(_ request: Request, _ context: FrontContext) async throws -> Response {
        let scope = try await authenticator.key(request, context, opening: .opsViewer).opsScope
        guard let id = context.parameters.get("id").flatMap({ NotificationID($0) }),
            let (item, body) = try await store.notification(id, in: scope)
        else { throw ActRefusal.unknown(.notification) }
        var writer = JSONWriter(capacity: 1_024 + body.value.count)
        writer.beginObject()
        writer.fields(of: item)
        let content = NotificationContent(body.value)
        writer.field("payload", json: content.payload)
        writer.field("transaction", json: content.transaction)
        writer.field("renewalInfo", json: content.renewal)
        writer.endObject()
        return .json(writer)
    }
}
