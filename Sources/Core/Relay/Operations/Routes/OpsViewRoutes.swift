import Formats
import HTTPServer
import Hummingbird
import RelayCore

/// Routes `GET /ops/…`: operators' views.
struct OpsViewRoutes: Sendable {
    let store: RelayStore
    let authenticator: Authenticator

    var routes: [Route] {
        [
            list("/ops/validations", .validations), list("/ops/subscriptions", .subscriptions),
            list("/ops/access", .accessProblems), list("/ops/transfers", .transfers),
            list("/ops/notifications", .notifications), list("/ops/events", .events),
            list("/ops/consumption-requests", .consumption), list("/ops/webhooks", .messages),
            view("/ops/validations/:id", validation),
            view("/ops/notifications/:id", notification),
            view("/ops/webhooks/endpoints") { _, _, scope in
                let endpoints = try await store.webhooks.endpoints(in: scope)
                return .json(capacity: 4_096) { writer in
                    writer.beginObject()
                    writer.array("items", endpoints)
                    writer.endObject()
                }
            },
            view("/ops/summary") { _, _, scope in
                let summary = try await store.ops.summary(in: scope)
                return .json { $0.value(summary) }
            },
            view("/ops/offers") { _, _, scope in
                async let unmapped = store.offers.unmapped(in: scope)
                let (offers, missing) = (try await store.offers.list(in: scope), try await unmapped)
                return .json(capacity: 4_096) { writer in
                    writer.beginObject()
                    writer.array("items", offers.map { PublishersOffer($0) })
                    writer.array("unmapped", missing)
                    writer.endObject()
                }
            },
        ]
    }

    private func list<Item: Viewed>(_ path: String, _ list: OpsList<Item>) -> Route {
        view(path) { request, _, scope in
            let (items, next) = try await list.read(PageQuery(QueryItems(request.uri.query)), store, scope)
            return .json(capacity: 64 + items.count * 512) { $0.page(items, next: next) }
        }
    }

    private func view(
        _ path: String, _ show: @escaping @Sendable (Request, FrontContext, OpsScope) async throws -> Response
    ) -> Route {
        .get(path) { request, context in
            let key = try await authenticator.key(request, context, opening: .opsViewer)
            return try await show(request, context, key.opsScope)
        }
    }

    private func validation(_: Request, _ context: FrontContext, _ scope: OpsScope) async throws -> Response {
        guard let id = context.parameters.get("id").flatMap({ ValidationID($0) }),
            let detail = try await store.ops.detail(id, in: scope)
        else { throw OpsRefusal.unknown }
        context.notes.subject = .validation(id)
        return .json(capacity: 4_096) { $0.value(detail) }
    }

    private func notification(_: Request, _ context: FrontContext, _ scope: OpsScope) async throws -> Response {
        guard let id = context.parameters.get("id").flatMap({ NotificationID($0) }),
            let (item, body) = try await store.ops.notification(id, in: scope)
        else { throw ActRefusal.unknown(.notification) }
        let content = NotificationContent(body.value, of: item.store)
        return .json(capacity: 1_024 + body.value.count) { writer in
            writer.beginObject()
            writer.fields(of: item)
            writer.field("payload", json: content.payload)
            writer.field("transaction", json: content.transaction)
            writer.field("renewalInfo", json: content.renewal)
            writer.endObject()
        }
    }
}
