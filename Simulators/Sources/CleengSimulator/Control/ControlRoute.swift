/// The addresses of the control API.
enum ControlRoute: Equatable {
    case health
    case customer(String)
    case customerEntitlements(String)
    case offer(String)
    case transaction(String)
    case standard
    case upstream
    case webhooks
    case requests
    case subscriptions
    case stats
    case reset

    /// - Parameter segments: the decoded parts of the path.
    /// - Returns: nil where nothing has this address.
    init?(segments: [String]) {
        let rest = segments.first == "_simulator" ? Array(segments.dropFirst()) : []
        switch (rest.first, rest.count) {
        case (nil, _) where segments == ["healthz"]: self = .health
        case ("customers", 2): self = .customer(rest[1])
        case ("customers", 3) where rest[2] == "entitlements": self = .customerEntitlements(rest[1])
        case ("offers", 2): self = .offer(rest[1])
        case ("transactions", 2): self = .transaction(rest[1])
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

    /// What may be done there.
    var methods: [String] {
        switch self {
        case .health, .subscriptions, .stats: ["GET"]
        case .customer, .transaction: ["GET", "PUT"]
        case .customerEntitlements, .reset: ["POST"]
        case .offer, .standard, .upstream, .webhooks: ["GET", "PUT", "DELETE"]
        case .requests: ["GET", "DELETE"]
        }
    }
}
