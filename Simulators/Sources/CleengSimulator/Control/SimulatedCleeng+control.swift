import SimulatorKit

/// A parsed request to the control API.
struct ControlCall: Sendable {
    let method: String
    let route: ControlRoute
    let query: FormItems
    /// nil for an empty body.
    let body: AnyJSON?

    init(_ call: Call) throws(ControlFault) {
        guard let route = ControlRoute(segments: call.segments) else { throw .noSuchAddress }
        guard route.methods.contains(call.method) else { throw .method(allowed: route.methods) }
        guard let body = call.body else { throw ControlFault(status: 413, message: "the body is larger than 8 MB") }
        method = call.method
        self.route = route
        query = call.queryItems
        guard !body.isEmpty else {
            self.body = nil
            return
        }
        guard let json = AnyJSON.parse(body), case .object = json else {
            throw .invalid("the body is no JSON object")
        }
        self.body = json
    }

    /// The list of behaviours in the body, which may also be one text separated by plus signs.
    func behaviours() throws(ControlFault) -> [String] {
        switch body?["behaviours"] {
        case nil: return []
        case .string(let text): return text.split(separator: "+").map(String.init)
        case .array(let elements):
            let names = elements.compactMap(\.string)
            guard names.count == elements.count else { throw .invalid("behaviours is a list of texts") }
            return names
        default: throw .invalid("behaviours is a list of texts")
        }
    }

    /// The field `expiresAt` of the body, in seconds since 1970.
    func expiresAt() throws(ControlFault) -> SimulatedTime? {
        guard let value = body?["expiresAt"] else { return nil }
        guard let seconds = value.integer, (0...4_102_444_800).contains(seconds) else {
            throw .invalid("expiresAt is in seconds since 1970")
        }
        return SimulatedTime(unixSeconds: seconds)
    }

    /// - Throws: for fields other than the named ones, which are probably typing errors.
    func allowOnly(_ names: String...) throws(ControlFault) {
        if case .object(let fields) = body { try ControlFault.check(fields.keys, known: names) }
    }
}

/// The addresses of the control API.
enum ControlRoute: Equatable {
    case health
    case customer(String)
    case customerEntitlements(String)
    case offer(String)
    case transaction(String)
    case purchaseToken(String)
    case standard
    case upstream
    case webhooks
    case requests
    case subscriptions
    case stats
    case reset

    /// - Parameter segments: the decoded parts of the path.
    /// - Returns: nil for an unknown address.
    init?(segments: [String]) {
        let rest = segments.first == "_simulator" ? Array(segments.dropFirst()) : []
        switch (rest.first, rest.count) {
        case (nil, _) where segments == ["healthz"]: self = .health
        case ("customers", 2): self = .customer(rest[1])
        case ("customers", 3) where rest[2] == "entitlements": self = .customerEntitlements(rest[1])
        case ("offers", 2): self = .offer(rest[1])
        case ("transactions", 2): self = .transaction(rest[1])
        case ("tokens", 2): self = .purchaseToken(rest[1])
        case ("default", 1): self = .standard
        case ("upstream", 1): self = .upstream
        case ("webhooks", 1): self = .webhooks
        case ("requests", 1): self = .requests
        case ("subscriptions", 1): self = .subscriptions
        case ("stats", 1): self = .stats
        case ("reset", 1): self = .reset
        default: return nil
        }
    }

    /// Methods that the address allows.
    var methods: [String] {
        switch self {
        case .health, .subscriptions, .stats: ["GET"]
        case .customer, .transaction, .purchaseToken: ["GET", "PUT"]
        case .customerEntitlements, .reset: ["POST"]
        case .offer, .standard, .upstream, .webhooks: ["GET", "PUT", "DELETE"]
        case .requests: ["GET", "DELETE"]
        }
    }
}

extension SimulatedCleeng {
    /// Executes a request to the control API. Call ``advance(to:)`` before.
    mutating func control(_ call: ControlCall) throws(ControlFault) -> Reply {
        switch (call.route, call.method) {
        case (.health, _): return Reply(json: ["status": "ok"])
        case (.customer(let email), "PUT"): return try configure(try Self.email(email), call)
        case (.customer(let email), _): return try show(try Self.email(email))
        case (.customerEntitlements(let email), _): return try setEntitlement(try Self.email(email), call)
        case (.offer(let offer), _): return try tags(ofOffer: offer, call)
        case (.transaction(let id), _): return try changeTransaction(id, call)
        case (.purchaseToken(let token), _): return try changePurchase(token, call)
        case (.standard, _): return try changeStandard(call)
        case (.upstream, _): return try changeUpstream(call)
        case (.webhooks, _): return try changeWebhooks(call)
        case (.requests, "DELETE"):
            requests.removeAll(recount: true)
            return Self.done
        case (.requests, _): return try showRequests(call.query)
        case (.subscriptions, _): return try showSubscriptions(call.query)
        case (.stats, _): return Reply(json: StatsView(self))
        case (.reset, _):
            reset()
            return Self.done
        }
    }

    private mutating func configure(_ email: EmailAddress, _ call: ControlCall) throws(ControlFault) -> Reply {
        try call.allowOnly("behaviours", "known")
        let behaviour = try Behaviour(names: try call.behaviours())
        ensureCustomer(email)
        // If the body names none, the present behaviours stay: a registration need not repeat those of the email.
        if call.body?["behaviours"] != nil { adopt(behaviour, from: .control, for: email) }
        switch call.body?["known"] {
        case nil, .bool(true): customers[email]?.isKnown = true
        case .bool(false): customers[email]?.isKnown = false
        default: throw .invalid("known is true or false")
        }
        return try show(email)
    }

    private func show(_ email: EmailAddress) throws(ControlFault) -> Reply {
        guard let customer = customers[email] else { throw .notFound("no such customer") }
        let pending = customer.entitlements.isEmpty && customer.paymentsAccepted == 0 ? [] : pendingGrants(of: email)
        return Reply(json: CustomerStateView(customer, pending: pending))
    }

    /// Searches all pending grants; only the control API may take that long.
    private func pendingGrants(of email: EmailAddress) -> [PendingGrant] {
        agenda.all.filter { $0.email == email }.sorted()
    }

    private mutating func tags(ofOffer text: String, _ call: ControlCall) throws(ControlFault) -> Reply {
        guard let offer = OfferId(text) else { throw .invalid("no offer id: such as S123456789_US") }
        switch call.method {
        case "PUT":
            try call.allowOnly("tags")
            guard case .array(let elements) = call.body?["tags"], elements.count <= 100,
                elements.allSatisfy({ $0.string.map { $0.utf8.count <= 200 } == true })
            else { throw .invalid("tags is a list of texts, 100 at most") }
            let tags = elements.compactMap(\.string)
            if offerTags[offer] == nil { _ = offerTags.insert(tags, for: offer) } else { offerTags[offer] = tags }
        case "DELETE": if offerTags[offer] != nil { offerTags[offer] = [offer.text] }
        default: break
        }
        let tags = tags(of: offer).map(AnyJSON.string)
        return Reply(json: AnyJSON.object(["offerId": .string(offer.text), "tags": .array(tags)]))
    }

    private mutating func changeStandard(_ call: ControlCall) throws(ControlFault) -> Reply {
        if call.method == "PUT" {
            try call.allowOnly("behaviours", "unknownCustomer")
            let behaviour = try Behaviour(names: try call.behaviours())
            switch call.body?["unknownCustomer"] {
            case nil: break
            case .string(let text):
                guard let answer = UnknownCustomerAnswer(rawValue: text) else { fallthrough }
                unknownCustomer = answer
            default: throw .invalid("unknownCustomer is empty or notFound")
            }
            standard = behaviour
            standardGeneration += 1
        } else if call.method == "DELETE" {
            standard = Behaviour()
            standardGeneration += 1
            unknownCustomer = .empty
        }
        return Reply(
            json: AnyJSON.object([
                "behaviours": .array(standard.names.map(AnyJSON.string)),
                "unknownCustomer": .string(unknownCustomer.rawValue),
            ]))
    }

    private mutating func changeUpstream(_ call: ControlCall) throws(ControlFault) -> Reply {
        if call.method == "PUT" {
            try call.allowOnly("behaviours")
            let behaviour = try Behaviour(names: try call.behaviours())
            guard behaviour.disturbsOnly else {
                throw .invalid(
                    "only troubles, slow-…, and -inactive and -migrating of storekit2 and google can apply to everybody"
                )
            }
            upstream = behaviour
        } else if call.method == "DELETE" {
            upstream = Behaviour()
        }
        return Reply(json: ["behaviours": upstream.names])
    }

    private func showRequests(_ query: FormItems) throws(ControlFault) -> Reply {
        let since = try query["since"].map { text throws(ControlFault) in
            guard let moment = SimulatedTime(text: text) else {
                throw .invalid("since is a time such as 2026-11-20T10:00:00.000Z, or milliseconds since 1970")
            }
            return moment
        }
        let email = try Self.email(in: query)
        let after = query["after"].flatMap { Int($0) } ?? 0
        let limit = min(100_000, max(1, query["limit"].flatMap { Int($0) } ?? 10_000))
        let path = query["path"]
        let page = requests.page(after: after, limit: limit) { entry in
            (email == nil || entry.customerEmail == email) && (path.map { entry.path.hasPrefix($0) } ?? true)
                && (since.map { entry.startedAt >= $0 } ?? true)
        } as: {
            RequestView($0)
        }
        return Reply(json: page)
    }

    private func showSubscriptions(_ query: FormItems) throws(ControlFault) -> Reply {
        let email = try Self.email(in: query)
        let id = query["originalTransactionId"]
        let limit = min(100_000, max(1, query["limit"].flatMap { Int($0) } ?? 10_000))
        if let id {
            let found = subscriptions[id].map { [SubscriptionView(id, $0)] } ?? []
            return Reply(json: Page(items: found, totalItemCount: found.count))
        }
        let matching = subscriptions.inOrder.filter { entry in
            guard let email else { return true }
            return entry.value.owner?.email == email || entry.value.pending.contains { $0.email == email }
        }
        let items = matching.prefix(limit).map { SubscriptionView($0.key, $0.value) }
        return Reply(json: Page(items: items, totalItemCount: matching.count))
    }

    private static func email(in query: FormItems) throws(ControlFault) -> EmailAddress? {
        guard query["customerEmail"] != nil else { return nil }
        guard let email = query.email("customerEmail") else { throw .invalid("customerEmail is no email address") }
        return email
    }

    private static func email(_ text: String) throws(ControlFault) -> EmailAddress {
        guard let email = EmailAddress(text) else { throw .invalid("the path names no email address") }
        return email
    }

    private static let done = Reply(json: ["status": "ok"])
}
