/// One customer in the control API.
struct CustomerStateView: Encodable {
    struct EntitlementView: Encodable {
        let subscriptionId: Int
        let offerId: String
        let status: EntitlementStatus
        let grantedAt: String
        let expiresAt: String
        let originalTransactionId: String
        let replacedBy: Int?
    }

    struct PendingView: Encodable {
        let offerId: String
        let originalTransactionId: String
        let grantAt: String
    }

    let customerEmail: String
    let customerId: Int
    let known: Bool
    let behaviours: [String]
    let behavioursFrom: String
    let entitlements: [EntitlementView]
    let pending: [PendingView]
    let paymentsReceived: Int
    let paymentsAccepted: Int
    let synchronizationsAccepted: Int
    let reads: Int
    let minReadGapMilliseconds: Int64?
    let minPollGapMilliseconds: Int64?

    init(_ customer: Customer, pending: [PendingGrant]) {
        customerEmail = customer.email.text
        customerId = customer.id
        known = customer.isKnown
        behaviours = customer.behaviour.names
        behavioursFrom =
            switch customer.source {
            case .plusTags: "plus tags"
            case .control: "control API"
            case .standard: "default"
            }
        entitlements = customer.entitlements.map { entitlement in
            EntitlementView(
                subscriptionId: entitlement.subscriptionId, offerId: entitlement.offerId.text,
                status: entitlement.status, grantedAt: entitlement.grantedAt.iso8601,
                expiresAt: entitlement.expiresAt.iso8601,
                originalTransactionId: entitlement.originalTransactionId, replacedBy: entitlement.replacedBy)
        }
        self.pending = pending.map { PendingView($0) }
        paymentsReceived = customer.paymentsReceived
        paymentsAccepted = customer.paymentsAccepted
        synchronizationsAccepted = customer.synchronizationsAccepted
        reads = customer.reads.count
        minReadGapMilliseconds = customer.reads.minGapMilliseconds
        minPollGapMilliseconds = customer.reads.minPollGapMilliseconds
    }
}

extension CustomerStateView.PendingView {
    init(_ grant: PendingGrant) {
        offerId = grant.offerId.text
        originalTransactionId = grant.originalTransactionId
        grantAt = grant.grantAt.iso8601
    }
}

/// One subscription in the control API.
struct SubscriptionView: Encodable {
    struct EventView: Encodable {
        let at: String
        let event: String
        let from: String?
        let to: String
        let offerId: String
        let subscriptionId: Int
        let previousSubscriptionId: Int?
        let status: EntitlementStatus
    }

    struct PendingView: Encodable {
        let customerEmail: String
        let offerId: String
        let grantAt: String
    }

    let originalTransactionId: String
    let customerEmail: String?
    let offerId: String?
    let subscriptionId: Int?
    let status: EntitlementStatus?
    let lapsesAt: String?
    let pending: [PendingView]
    let history: [EventView]

    init(_ originalTransactionId: String, _ subscription: Subscription) {
        self.originalTransactionId = originalTransactionId
        customerEmail = subscription.owner?.email.text
        offerId = subscription.owner?.offerId.text
        subscriptionId = subscription.owner?.subscriptionId
        status = subscription.owner?.status
        lapsesAt = subscription.lapsesAt?.iso8601
        pending = subscription.pending.sorted().map { grant in
            PendingView(
                customerEmail: grant.email.text, offerId: grant.offerId.text, grantAt: grant.grantAt.iso8601)
        }
        history = subscription.history.map { event in
            EventView(
                at: event.at.iso8601, event: event.kind.rawValue, from: event.from?.text, to: event.to.text,
                offerId: event.offerId.text, subscriptionId: event.subscriptionId,
                previousSubscriptionId: event.previousSubscriptionId, status: event.status)
        }
    }
}

/// A list in the format of Cleeng's lists.
struct Page<Item: Encodable>: Encodable {
    let items: [Item]
    let totalItemCount: Int
}

/// Address for events, and the results of recent ones, in the control API.
struct WebhooksView: Encodable {
    struct DeliveryView: Encodable {
        let topic: String
        let customerEmail: String
        let attempts: Int
        let status: Int?
        let endedAt: String
        let body: AnyJSON?
    }

    let url: String?
    let secret: String
    let signatureHeader: String?
    let signatureEncoding: String?
    let withEmail: Bool?
    let waiting: Int
    let deliveries: [DeliveryView]

    init(_ cleeng: SimulatedCleeng) {
        let target = cleeng.webhooks
        url = target?.url
        secret = (target == nil ? TokenPresence.absent : .present).rawValue
        signatureHeader = target?.signatureHeader
        signatureEncoding = target?.signatureEncoding.rawValue
        withEmail = target?.withEmail
        waiting = cleeng.outbox.count
        deliveries = cleeng.outbox.deliveries.map { delivery in
            DeliveryView(
                topic: delivery.event.topic.rawValue, customerEmail: delivery.event.email.text,
                attempts: delivery.attempts, status: delivery.status, endedAt: delivery.endedAt.iso8601,
                body: AnyJSON.parse(delivery.event.body))
        }
    }
}
