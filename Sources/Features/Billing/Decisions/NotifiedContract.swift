import RelayCore

/// A subscription's contract, and the publisher's active endpoints that receive its events.
struct NotifiedContract: Sendable {
    var id: String
    var customer: String
    var publisher: PublisherID
    var endpoints: [Endpoint]

    /// An endpoint that receives events by their ids.
    struct Endpoint: Sendable {
        var id: EndpointID
        var events: [Substring]
        var environment: WebhookEnvironment

        func wants(_ event: BillingEvent) -> Bool { events.contains { $0 == event.rawValue } }

        func takes(_ environment: StoreEnvironment) -> Bool {
            switch self.environment {
            case .all: true
            case .production: environment == .production
            case .sandbox: environment == .sandbox
            }
        }
    }

    init(id: String, customer: String, publisher: PublisherID, endpoints: [Endpoint] = []) {
        self.id = id
        self.customer = customer
        self.publisher = publisher
        self.endpoints = endpoints
    }
}

extension LedgerChange {
    /// Events for the contract; none if the contract is unchanged, or if the subscription moved to another id.
    var contractEvents: [BillingEvent] {
        guard ledger.movedTo == nil, let shown else { return [] }
        return BillingEvent.events(
            from: BillingEvent.Picture(
                status: found.status, expiresAt: found.expiresAt, willRenew: found.willRenew,
                productID: found.ledger.state(at: found.now, leeway: terms.leeway)?.productID),
            to: BillingEvent.Picture(
                status: shown.status, expiresAt: shown.expiresAt, willRenew: shown.willRenew,
                productID: shown.productID))
    }
}

extension LedgerBatch {
    /// Former and new ids of subscriptions whose contract continues under the new id, which has none.
    ///
    /// - Parameter contracted: the subscriptions with a contract.
    func contractMoves(of contracted: Set<SubscriptionName>) -> [(from: SubscriptionName, to: SubscriptionName)] {
        moved.map { (from: $0.message.name, to: $1.message.name) }
            .filter {
                contracted.contains($0.from) && !contracted.contains($0.to) && $0.from.environment == $0.to.environment
            }
    }
}
