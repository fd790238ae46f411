import Formats
import Hummingbird
import RelayCore
import RelayStore

/// What all routes under `/api/v1` have in common: who asks, bodies, pages, ids, answers.
struct BillingContext: Sendable {
    let store: RelayStore
    let keys: KeyRing
    let budget: BodyBudget
    let maxBodyBytes: Int
    /// How long after its end a subscription that will renew is waited for.
    let leeway: Duration
    let stores: StoreGate
    let receipts: ReceiptPolicy
    let limits: RateLimits

    /// All but receipts is small.
    static let smallBodyBytes = 64 << 10

    /// The publisher. An access token opens, and so does the key itself; either in the header or in the query.
    ///
    /// - Throws: ``Problem`` 401 and 403.
    func publisher(_ request: Request, _ context: FrontContext) async throws -> PublisherID {
        let inQuery = QueryItems(request.uri.query)["access_token"]
        guard let text = BearerCredentials.parse(request.headers[.authorization]) ?? inQuery.map({ Substring($0) })
        else { throw Problem(.missingKey, "send Authorization: Bearer TOKEN, with a token from /oauth/token") }
        var key = try await keys.authenticate(accessToken: text)
        if key == nil { key = try await keys.authenticate(text) }
        guard let key else { throw Problem(.unknownKey, "the token was never given out, or its key has been revoked") }
        context.notes.keyID = key.id
        try limits.take(key: key.id.text, context)
        guard key.role.opens(.publisher) else { throw Problem(.wrongRole, "this takes a key of the role publisher") }
        return key.publisher
    }

    /// - Parameter loan: takes what arrives.
    func body(_ request: Request, on loan: BodyLoan, atMost bytes: Int = smallBodyBytes) async throws -> ByteBuffer {
        try await BodyReader(maximumBytes: min(bytes, maxBodyBytes)).read(request, on: loan)
    }

    /// The id in the path. What cannot be one is nobody's.
    func id(_ context: FrontContext, _ what: String) throws -> BillingID {
        guard let id = context.parameters.get("id").flatMap({ BillingID($0) }) else { throw Self.unknown(what) }
        return id
    }

    static func unknown(_ what: String) -> Problem { Problem(.notFound, "there is no \(what) by this id") }

    /// `take` and `from`; `skip` and whatever else there is are passed over. More than the most is the most.
    func page(_ request: Request) throws -> BillingPage {
        let query = QueryItems(request.uri.query)
        var page = BillingPage()
        var reader = FieldReader()
        if let text = query["take"] {
            // A number of any length.
            let take = text.utf8.allSatisfy(\.isDigit) ? Int(text) ?? .max : 0
            if take > 0 {
                page.take = min(take, BillingPage.most)
            } else {
                reader.add("take", .invalid, "must be a whole number from 1 to \(BillingPage.most)")
            }
        }
        if let text = query["from"] {
            page.from = BillingID(text) ?? reader.refuse("from", "must be an id: 24 hexadecimal digits")
        }
        try reader.end()
        return page
    }

    static func response(_ writer: JSONWriter, status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status, headers: [.contentType: "application/json; charset=utf-8", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: writer.buffer))
    }

    /// A bare array.
    static func list<Item>(_ items: [Item], _ write: (Item, inout JSONWriter) -> Void) -> Response {
        var writer = JSONWriter(capacity: 64 + 400 * items.count)
        writer.beginArray()
        for item in items { write(item, &writer) }
        writer.endArray()
        return response(writer)
    }

    static func one<Item>(
        _ item: Item, status: HTTPResponse.Status = .ok, _ write: (Item, inout JSONWriter) -> Void
    ) -> Response {
        var writer = JSONWriter(capacity: 600)
        write(item, &writer)
        return response(writer, status: status)
    }
}
