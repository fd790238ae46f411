import Formats
import HTTPServer
import Hummingbird
import Relay
import RelayCore

/// Routes `GET /v2/customers/…`: purchases of a publisher's customers (Fovea's "Customer Purchases" and "Customers").
struct PurchaseRoutes: Sendable {
    let store: RelayStore
    let authenticator: Authenticator
    let bodies: BodyReader

    init(_ parts: FrontFeature.Parts) {
        store = parts.acceptor.store
        authenticator = parts.authenticator
        bodies = BodyReader(maximumBytes: Self.mostBodyBytes)
    }

    private static let mostBodyBytes = 64 << 10
    private static let standardLimit = 100
    private static let mostCustomers = 1_000

    private static let headers: HTTPFields = [.contentType: "application/json", .cacheControl: "no-store"]

    /// The second route matches names that contain slashes.
    var routes: [Route] {
        [
            .get("/v2/customers", answer), .get("/v2/customers/**", cached: known, answer),
            .put("/v2/customers/**", ending: "consumption", keepConsumption),
        ]
    }

    private func answer(_ request: Request, _ context: FrontContext) async throws -> Response {
        let query = QueryItems(request.uri.query)
        let key = try await authenticator.key(request, context, named: query, opening: .publisher)
        switch CustomerPath(request.uri.path) {
        case .purchases(let text): return try await purchases(text, key)
        case .all: return try await customers(query, key)
        case .consumption(let text): return try await consumption(try name(text, key))
        case nil: throw Problem(.notFound, "nothing has this address")
        }
    }

    /// The purchases of a customer whose list is cached.
    private func known(_ head: HTTPRequest, _ path: String) -> CachedAnswer? {
        guard let name = CustomerPath.plainName(path),
            let key = authenticator.knownNamed(head.headerFields, opening: .publisher),
            let known = store.customers.knownPurchases(of: CustomerName(publisher: key.publisher, username: name))
        else { return nil }
        let body = ByteBuffer(bytes: known.json)
        var fields = Self.headers
        fields[.contentLength] = String(body.readableBytes)
        return CachedAnswer(response: HTTPResponse(status: .ok, headerFields: fields), body: body, caller: key.id.text)
    }

    private func purchases(_ text: String, _ key: APIKey) async throws -> Response {
        let name = try name(text, key)
        let purchases = try await store.customers.purchases(of: name)
        return Self.response(ByteBuffer(bytes: purchases.json))
    }

    private func customers(_ query: QueryItems, _ key: APIKey) async throws -> Response {
        // Both are validated although they are unused if the query names customers.
        let limit = try number(query, "limit", 1...Self.mostCustomers) ?? Self.standardLimit
        let skip = try number(query, "skip", 0...Int(Int32.max)) ?? 0
        guard let list = query["applicationUsername"] else {
            let (names, total) = try await store.customers.list(of: key.publisher, limit: limit, skip: skip)
            return try await page(names, skip: skip, limit: limit, total: total)
        }
        let texts = list.utf8.split(separator: UInt8(ascii: ","), maxSplits: Self.mostCustomers).map { Substring($0) }
        guard texts.count <= Self.mostCustomers else {
            throw Problem(.badRequest, "ask for at most \(Self.mostCustomers) customers at once")
        }
        // Clients encode each name, and then encode the whole list once more.
        let names = try texts.map { try name($0.percentDecoded, key) }
        return try await page(names, skip: 0, limit: names.count, total: names.count)
    }

    func name(_ text: String, _ key: APIKey) throws -> CustomerName {
        guard let username = ApplicationUsername.checked(text) else {
            throw Problem(
                .badRequest, "applicationUsername must have 1 to \(ApplicationUsername.mostCharacters) characters")
        }
        return CustomerName(publisher: key.publisher, username: username)
    }

    private func number(_ query: QueryItems, _ name: String, _ range: ClosedRange<Int>) throws -> Int? {
        guard let text = query[name] else { return nil }
        guard let number = Int(text), range.contains(number), text.utf8.allSatisfy(\.isDigit) else {
            throw Problem(.badRequest, "\(name) must be a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    private func page(_ names: [CustomerName], skip: Int, limit: Int, total: Int) async throws -> Response {
        var writer = JSONWriter(capacity: 64 + 300 * names.count)
        writer.beginObject()
        writer.name("paging")
        writer.beginObject()
        writer.member("skip", skip)
        writer.member("limit", limit)
        writer.member("total", total)
        writer.endObject()
        writer.name("rows")
        writer.beginArray()
        for customer in try await store.customers.purchases(of: names) { writer.row(customer) }
        writer.endArray()
        writer.endObject()
        return Self.response(writer.buffer)
    }

    private static func response(_ body: ByteBuffer) -> Response {
        Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: body))
    }
}

extension JSONWriter {
    /// Writes a customer of a list: the newest date of each kind, and the purchases.
    fileprivate mutating func row(_ customer: CustomerPurchases) {
        let purchases = customer.purchases
        let newest = purchases.max { ($0.renewedAt ?? .earliest) < ($1.renewedAt ?? .earliest) }
        // The purchases' `isExpired` decides: access may be granted on a purchase without known dates.
        let isActive = purchases.contains { !$0.isExpired }
        beginObject()
        member("applicationUsername", customer.name.username)
        name("customerInfo")
        beginObject()
        if let newest {
            member("lastPurchaseId", newest.platform.prefixed(newest.purchaseID))
            member("lastPurchaseDate", second: purchases.compactMap(\.purchasedAt).max())
            member("lastRenewalDate", second: purchases.compactMap(\.renewedAt).max())
            member("expirationDate", second: purchases.compactMap(\.expiresAt).max())
            member("activeSubscriber", isActive)
            member("lapsedSubscriber", !isActive)
            member("renewalIntent", newest.renewalIntent?.rawValue)
        }
        endObject()
        name("receiptIds")
        beginArray()
        for id in Set(purchases.map { TransactionID($0.platform.prefixed($0.purchaseID)) }).sorted() { value(id.text) }
        endArray()
        endObject()
    }
}
