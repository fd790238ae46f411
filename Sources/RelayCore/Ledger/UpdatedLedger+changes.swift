extension UpdatedLedger {
    public var hasNewStatus: Bool { found.status != shown?.status }

    /// Whether the timeline records the update.
    public var isNoted: Bool { message.note != nil || hasNewStatus }

    /// Whether the publisher must be notified. A new grant sends its own notification.
    public var notifiesPublisher: Bool {
        // No status was published yet, but a message about the grant may have been sent already.
        guard found.status != nil else { return message.note != nil }
        if hasNewStatus || found.expiresAt != shown?.expiresAt || found.willRenew != shown?.willRenew { return true }
        return found.ledger != ledger
            && (purchases(found.ledger, shown: found.status) != purchases(ledger, shown: shown?.status) || hasEndedItem)
    }

    /// Whether the end of an item passed since the store's previous statement.
    private var hasEndedItem: Bool {
        guard let moment = found.ledger.renewal?.statedAt else { return false }
        return found.ledger.nextItemEnd(after: moment).map { $0 <= found.now } ?? false
    }

    /// The purchases as publishers see them.
    private func purchases(_ ledger: SubscriptionLedger, shown: SubscriptionState.Status?) -> [CustomerPurchase] {
        var purchases = ledger.purchases(of: message.name, shown: shown, at: found.now, leeway: terms.leeway)
        for index in purchases.indices { purchases[index].planID = nil }
        return purchases.sorted { $0.productID < $1.productID }
    }

    /// The reason in the publisher's webhooks.
    public var reason: CustomerChange.Reason {
        switch shown?.status {
        case .revoked: shown?.reason == "family_revoked" ? .revoked : .refunded
        case .expired, .inBillingRetry: .expired
        case .inGrace: .enteredGracePeriod
        case .active where found.status == nil: shown?.willRenew == false ? .willLapse : .other
        case .active where hasNewStatus || (found.expiresAt != nil && found.expiresAt != shown?.expiresAt): .renewed
        case .active
        where found.willRenew != shown?.willRenew && (found.willRenew != nil || shown?.willRenew == false):
            shown?.willRenew == false ? .willLapse : .willAutoRenew
        case .active where found.ledger.renewal?.priceConsent == 0 && ledger.renewal?.priceConsent == 1:
            .priceChangeConfirmed
        case .active, nil: .other
        }
    }

    /// Events for the contract; none if the contract is unchanged, or if the subscription moved to another id.
    public var contractEvents: [BillingEvent] {
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

/// A subscription's contract, and the publisher's active endpoints that receive its events.
public struct NotifiedContract: Sendable {
    public var id: String
    public var customer: String
    public var publisher: PublisherID
    public var endpoints: [Endpoint]

    /// An endpoint that receives events by their ids.
    public struct Endpoint: Sendable {
        public var id: EndpointID
        public var events: [Substring]
        public var environment: WebhookEnvironment

        public init(id: EndpointID, events: [Substring], environment: WebhookEnvironment) {
            self.id = id
            self.events = events
            self.environment = environment
        }

        public func wants(_ event: BillingEvent) -> Bool { events.contains { $0 == event.rawValue } }

        public func takes(_ environment: StoreEnvironment) -> Bool {
            switch self.environment {
            case .all: true
            case .production: environment == .production
            case .sandbox: environment == .sandbox
            }
        }
    }

    public init(id: String, customer: String, publisher: PublisherID, endpoints: [Endpoint] = []) {
        self.id = id
        self.customer = customer
        self.publisher = publisher
        self.endpoints = endpoints
    }
}
