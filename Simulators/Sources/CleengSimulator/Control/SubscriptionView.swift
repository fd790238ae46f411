/// One subscription as the control API shows it.
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
