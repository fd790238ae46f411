/// What is known of one Apple subscription, that is of one original transaction id.
struct Subscription: Sendable {
    struct Owner: Sendable {
        let email: CustomerEmail
        let offerId: OfferId
        let subscriptionId: Int
        var status: EntitlementStatus
    }

    static let historyLimit = 100

    /// nil until the first grant.
    var owner: Owner?
    /// In the order in which they will be granted.
    var pending: [PendingGrant] = []
    /// When the newest notification that was acted on was signed.
    var lastNoticeAt: Moment?
    /// When it ends because its renewal was not paid for.
    var lapsesAt: Moment?
    private(set) var history: [SubscriptionEvent] = []

    /// Who will own it, and with which offer, when everything that is known now has been granted.
    var lastWord: (email: CustomerEmail, offerId: OfferId, status: EntitlementStatus)? {
        if let last = pending.max() { return (last.email, last.offerId, last.status) }
        return owner.map { ($0.email, $0.offerId, $0.status) }
    }

    mutating func note(_ event: SubscriptionEvent) {
        if history.count == Self.historyLimit { history.removeFirst() }
        history.append(event)
    }
}
