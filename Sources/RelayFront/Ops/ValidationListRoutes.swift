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
        _ = try await authenticator.key(request, context, opening: .opsViewer)
        let filter = try ValidationFilter(QueryItems(request.uri.query))
        let (items, next) = try await store.validations(matching: filter)
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
    /// Since when and why it is set aside; null where it is not.
    mutating func parking(_ parking: Parking?) {
        guard let parking else { return field("parked", json: nil) }
        beginObject("parked")
        field("since", parking.since)
        field("reason", parking.reason)
        endObject()
    }
}

extension ValidationFilter {
    static let maximumLimit = 200

    /// - Throws: ``Problem`` 422 that names every wrong parameter.
    init(_ query: QueryItems) throws {
        self.init()
        var reader = FieldReader()
        if let text = query["status"] {
            status = ValidationStatus(name: text)
            if status == nil {
                let names = ValidationStatus.allCases.map(\.name).joined(separator: ", ")
                reader.add(FieldError("status", .invalid, "must be one of \(names)"))
            }
        }
        if let text = query["olderThanSeconds"] {
            // Ten years: older than anything that is kept, and far from any overflow.
            let seconds = Self.number(text, in: 0...315_360_000)
            olderThan = seconds.map { .seconds($0) }
            if seconds == nil {
                reader.add(FieldError("olderThanSeconds", .invalid, "must be a whole number from 0 to 315360000"))
            }
        }
        if let text = query["customerEmail"] { customer = reader.email(text, "customerEmail")?.customer }
        if let text = query["offerId"] { offerID = reader.offerID(text, "offerId") }
        if let text = query["parked"] {
            isParked = text == "true"
            if !isParked { reader.add(FieldError("parked", .invalid, "must be true, or left out")) }
        }
        if let text = query["limit"] {
            if let number = Self.number(text, in: 1...Self.maximumLimit) {
                limit = number
            } else {
                reader.add(FieldError("limit", .invalid, "must be a whole number from 1 to \(Self.maximumLimit)"))
            }
        }
        if let text = query["cursor"] {
            cursor = ValidationCursor(text)
            if cursor == nil { reader.add(FieldError("cursor", .invalid, "must be a nextCursor of an earlier page")) }
        }
        guard reader.errors.isEmpty else { throw Problem.invalidFields(reader.errors) }
    }

    private static func number(_ text: String, in range: ClosedRange<Int>) -> Int? {
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), let number = Int(text),
            range.contains(number)
        else { return nil }
        return number
    }
}
