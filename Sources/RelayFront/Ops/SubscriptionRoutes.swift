import Formats
import HTTPTypes
import Hummingbird
import RelayCore
import RelayStore

/// `GET /ops/subscriptions`, `GET /ops/access` and `GET /ops/transfers`: the life of each subscription, granted access that may be wrong, and
/// who got a subscription from whom.
struct SubscriptionRoutes: Sendable {
    let store: RelayStore
    let authenticator: Authenticator

    var routes: [Route] {
        [
            .get("/ops/subscriptions", subscriptions), .get("/ops/access", access), .get("/ops/transfers", transfers),
        ]
    }

    private func subscriptions(_ request: Request, _ context: FrontContext) async throws -> Response {
        let scope = try await authenticator.key(request, context, opening: .opsViewer).opsScope
        var page = PageQuery(QueryItems(request.uri.query))
        let filter = SubscriptionFilter(
            originalTransactionID: page.originalTransactionID(), customer: page.customer(),
            isParked: page.choice("parked", [("true", true)]) ?? false, limit: page.limit(),
            cursor: page.cursor { SubscriptionCursor($0) })
        try page.end()
        return Self.page(try await store.subscriptions(matching: filter, in: scope))
    }

    private func access(_ request: Request, _ context: FrontContext) async throws -> Response {
        let scope = try await authenticator.key(request, context, opening: .opsViewer).opsScope
        var page = PageQuery(QueryItems(request.uri.query))
        let problem = page.choice("problem", AccessProblem.allCases.map { ($0.name, $0) })
        let (limit, cursor) = (page.limit(), page.cursor { SubscriptionCursor($0) })
        try page.end()
        return Self.page(try await store.accessProblems(problem, limit: limit, cursor: cursor, in: scope))
    }

    private static func page(_ found: (items: [OpsSubscription], next: SubscriptionCursor?)) -> Response {
        let (items, next) = found
        var writer = JSONWriter(capacity: 64 + items.count * 1_024)
        writer.beginObject()
        writer.beginArray("items")
        for item in items { writer.subscription(item) }
        writer.endArray()
        writer.field("nextCursor", next?.description)
        writer.endObject()
        return .json(writer)
    }

    private func transfers(_ request: Request, _ context: FrontContext) async throws -> Response {
        let scope = try await authenticator.key(request, context, opening: .opsViewer).opsScope
        var page = PageQuery(QueryItems(request.uri.query))
        let (key, customer, limit) = (page.originalTransactionID(), page.customer(), page.limit())
        let cursor = page.cursor { ValidationCursor($0) }
        try page.end()
        let (items, next) = try await store.transfers(
            originalTransactionID: key, customer: customer, limit: limit, cursor: cursor, in: scope)
        var writer = JSONWriter(capacity: 64 + items.count * 400)
        writer.beginObject()
        writer.beginArray("items")
        for item in items {
            writer.beginObject()
            writer.field("originalTransactionId", item.name.originalTransactionID)
            writer.field("environment", item.name.environment)
            writer.field("publisher", item.name.publisher)
            writer.field("from", item.from)
            writer.field("to", item.to)
            writer.field("fromValidationId", item.fromValidation.description)
            writer.field("toValidationId", item.toValidation.description)
            writer.field("at", item.at)
            writer.endObject()
        }
        writer.endArray()
        writer.field("nextCursor", next?.description)
        writer.endObject()
        return .json(writer)
    }
}

extension JSONWriter {
    fileprivate mutating func subscription(_ item: OpsSubscription) {
        beginObject()
        field("id", "\(SubscriptionCursor(item.name))")
        field("originalTransactionId", item.name.originalTransactionID)
        field("environment", item.name.environment)
        field("publisher", item.name.publisher)
        field("customerEmail", item.email)
        field("offerId", item.offerID)
        field("validationId", item.validation?.description)
        field("status", item.status?.name)
        field("willRenew", item.willRenew)
        field("expiresAt", item.expiresAt)
        field("productId", item.productID)
        field("autoRenewProductId", item.autoRenewProductID)
        field("reason", item.reason)
        field("bundleId", item.bundleID)
        field("nextLookAt", item.dueAt)
        field("trouble", item.trouble)
        field("parkedAt", item.parkedAt)
        if let problem = item.problem { field("problem", problem.name) }
        beginArray("timeline")
        for entry in item.timeline {
            beginObject()
            field("at", entry.at)
            field("event", entry.event)
            field("detail", entry.detail)
            field("status", entry.status?.name)
            field("expiresAt", entry.expiresAt)
            field("validationId", entry.validation?.description)
            field("notificationId", entry.notification?.description)
            endObject()
        }
        endArray()
        endObject()
    }
}
