import Formats
import HTTPTypes
import Hummingbird
import RelayCore
import RelayStore

/// `GET /ops/validations`: the list that ops looks through, newest first.
struct ValidationListRoutes: Sendable {
    let store: RelayStore
    let authenticator: Authenticator

    var routes: [Route] { [.get("/ops/validations", list)] }

    private func list(_ request: Request, _ context: FrontContext) async throws -> Response {
        let scope = try await authenticator.key(request, context, opening: .opsViewer).opsScope
        let filter = try ValidationFilter(QueryItems(request.uri.query))
        let (items, next) = try await store.validations(matching: filter, in: scope)
        var writer = JSONWriter(capacity: 64 + items.count * 480)
        writer.beginObject()
        writer.beginArray("items")
        for item in items {
            writer.beginObject()
            writer.poll(item.validation)
            writer.field("customerEmail", item.validation.email)
            writer.field("publisher", item.validation.publisher)
            writer.field("app", item.validation.app)
            writer.parking(item.parking)
            writer.endObject()
        }
        writer.endArray()
        writer.field("nextCursor", next?.description)
        writer.endObject()
        return .json(writer)
    }
}

extension JSONWriter {
    /// Since when and why it is parked; null where it is not.
    mutating func parking(_ parking: Parking?) {
        guard let parking else { return field("parked", json: nil) }
        beginObject("parked")
        field("since", parking.since)
        field("reason", parking.reason)
        endObject()
    }
}

extension ValidationFilter {
    /// - Throws: ``Problem`` 422 that names every wrong parameter.
    init(_ items: QueryItems) throws {
        var query = PageQuery(items)
        self.init(
            status: query.choice("status", ValidationStatus.allCases.map { ($0.name, $0) }),
            // Ten years: older than anything that is kept, and far from any overflow.
            olderThan: query.number("olderThanSeconds", in: 0...315_360_000).map { .seconds($0) },
            customer: query.customer(), offerID: query.offerID(),
            selection: query.choice("parked", [("true", .parked)]) ?? query.choice("waiting", [("true", .waiting)])
                ?? .all,
            originalTransactionID: query.originalTransactionID(),
            limit: query.limit(), cursor: query.cursor(ValidationCursor.init))
        try query.end()
    }
}
