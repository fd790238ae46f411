import Formats
import HTTPServer
import Hummingbird
import Relay
import RelayCore

/// Shared parts of all routes under `/api/v1`: authentication, bodies, pages, ids, answers.
struct BillingContext: Sendable {
    let parts: FrontFeature.Parts
    var store: RelayStore { parts.acceptor.store }

    /// Bound of all bodies except receipts.
    static let smallBodyBytes = 64 << 10

    /// The publisher of the request. The header or the query holds an access token or the key itself.
    ///
    /// - Throws: ``Problem`` 401 and 403.
    func publisher(_ request: Request, _ context: FrontContext) async throws -> PublisherID {
        let inQuery = QueryItems(request.uri.query)["access_token"]
        guard let text = BearerCredentials.parse(request.headers[.authorization]) ?? inQuery.map({ Substring($0) })
        else { throw Problem(.missingKey, "send Authorization: Bearer TOKEN, with a token from /oauth/token") }
        var key = try await parts.authenticator.keys.authenticate(accessToken: text)
        if key == nil { key = try await parts.authenticator.keys.authenticate(text) }
        guard let key else { throw Problem(.unknownKey, "the token was never given out, or its key has been revoked") }
        context.notes.caller = key.id.text
        try parts.limits.take(key: key.id.text, context)
        guard key.role.opens(.publisher) else { throw Problem(.wrongRole, "this takes a key of the role publisher") }
        return key.publisher
    }

    /// - Parameter loan: accounts for the bytes that arrive.
    func body(_ request: Request, on loan: BodyLoan, atMost bytes: Int = smallBodyBytes) async throws -> ByteBuffer {
        try await BodyReader(maximumBytes: min(bytes, parts.maxBodyBytes)).read(request, on: loan)
    }

    /// The id in the path. A malformed id is 404, like an unknown one.
    func id(_ context: FrontContext, _ what: String) throws -> BillingID {
        guard let id = context.parameters.get("id").flatMap({ BillingID($0) }) else { throw Self.unknown(what) }
        return id
    }

    static func unknown(_ what: String) -> Problem { Problem(.notFound, "there is no \(what) by this id") }

    /// Reads `take` and `from`, and ignores other items such as `skip`. A larger `take` counts as the maximum.
    func page(_ request: Request) throws -> BillingPage {
        let query = QueryItems(request.uri.query)
        var page = BillingPage()
        var reader = FieldReader()
        if let text = query["take"] {
            // The number may have any length.
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

    /// Answers with a bare array.
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
