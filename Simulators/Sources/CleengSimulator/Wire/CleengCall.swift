/// A request to the simulated Cleeng, taken apart: all the work that needs no shared state.
struct CleengCall: Sendable {
    let method: String
    let path: String
    let query: QueryItems
    /// Without the token's text.
    let headers: [NamedValue]
    let token: TokenPresence
    /// When the head of the request arrived.
    let startedAt: Moment
    /// Whether it is refused without the publisher's token in a header.
    let needsToken: Bool
    let operation: CleengOperation
    /// The body without receipts and tokens, for the log.
    let shownBody: JSONValue?
    let bodyBytes: Int
    /// SHA-256 of the body as it came, of notifications only: they are to be passed on byte for byte.
    let bodyDigest: String?

    /// - Parameter body: nil where it was larger than the limit.
    init(
        method: String, path: String, segments: [String], query: QueryItems, headers: [NamedValue],
        token: TokenPresence, correlationId: String?, startedAt: Moment, body: [UInt8]?, publisherToken: String,
        identity: ReceiptIdentity
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.token = token
        self.startedAt = startedAt
        bodyBytes = body?.count ?? 0
        let route = CleengRoute(segments: segments)
        needsToken = route?.needsToken ?? true
        bodyDigest = route == .notification ? body?.withUnsafeBytes { HexDigest.sha256($0) } : nil
        let json = body.flatMap { $0.isEmpty ? nil : JSONValue.parse($0) }
        if let body {
            operation = Self.operation(
                method, route, query, correlationId, body, json, publisherToken: publisherToken, identity: identity)
        } else {
            operation = .refused(.bodyTooLarge, allow: nil)
        }
        let receipt: ReceiptSummary? = if case .payment(let payment) = operation { payment.receipt } else { nil }
        shownBody = json.map { Redaction(receipt: receipt, publisherToken: publisherToken).shown($0) }
    }

    private static func operation(
        _ method: String, _ route: CleengRoute?, _ query: QueryItems, _ correlationId: String?, _ body: [UInt8],
        _ json: JSONValue?, publisherToken: String, identity: ReceiptIdentity
    ) -> CleengOperation {
        guard let route else { return .refused(.notFound, allow: nil) }
        guard method == route.method else {
            return .refused(
                WireFault(status: 405, code: "SIM0405", message: "Use \(route.method)"), allow: route.method)
        }
        do throws(WireFault) {
            switch route {
            case .payment(let gateway): return .payment(try Payment(gateway, body: json, identity: identity))
            case .entitlements: return .listEntitlements(try EntitlementQuery(query))
            case .customer(let id): return .customer(id: try customerId(id))
            case .entitlement(let id, let offer):
                guard let offerId = OfferId(offer) else {
                    throw .invalidQuery("Invalid offerId format", fields: ["offer_id"])
                }
                return .entitlement(customerId: try customerId(id), offerId)
            case .remoteProcedures:
                return .remoteProcedures(RemoteProcedureBatch(json, publisherToken: publisherToken))
            case .notification: return .notification(try StoreNotice(body: body))
            case .synchronize(let kind):
                return .synchronize(try SynchronizationRequest(kind, body: json, correlationId: correlationId))
            case .synchronization(let id): return .synchronization(id: id)
            }
        } catch {
            return .refused(error, allow: nil)
        }
    }

    private static func customerId(_ text: String) throws(WireFault) -> Int {
        guard let id = Int(text), id > 0, text.utf8.count <= 10 else {
            throw .invalidQuery("Invalid customerId format", fields: ["customer_id"])
        }
        return id
    }
}
