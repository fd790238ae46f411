/// What the simulator remembers of one email.
struct Customer: Sendable {
    /// Where the behaviour came from, so that a new default reaches those who follow it.
    enum BehaviourSource: Sendable, Equatable {
        case plusTags
        case control
        case standard(generation: Int)
    }

    static let entitlementLimit = 500

    let email: CustomerEmail
    /// Nine digits, as Cleeng's are.
    let id: Int
    let firstSeenAt: Moment
    /// Cleeng knows a customer once a payment was accepted or the customer was registered.
    var isKnown = false
    var lastAddress: String?
    var behaviour = Behaviour()
    var source = BehaviourSource.plusTags
    private(set) var entitlements: [Entitlement] = []
    var paymentsReceived = 0
    var paymentsAccepted = 0
    /// Of StoreKit 2, registrations and transfers.
    var synchronizationsAccepted = 0
    var reads = ReadPace()
    var devices = DeviceLimiter()

    /// Whether any entitlement opens the offer.
    func isEntitled(to offer: OfferId) -> Bool {
        entitlements.contains { $0.status.entitles && offer.covers($0.offerId) }
    }

    /// The latest expiry among the entitlements that open the offer.
    func expiry(of offer: OfferId) -> Moment? {
        entitlements.lazy.filter { $0.status.entitles && offer.covers($0.offerId) }.map(\.expiresAt).max()
    }

    mutating func add(_ entitlement: Entitlement) {
        if entitlements.count == Self.entitlementLimit {
            entitlements.remove(at: entitlements.firstIndex { !$0.status.entitles } ?? 0)
        }
        entitlements.append(entitlement)
    }

    /// Changes the entitlement of one subscription, if the customer has it.
    mutating func change(subscriptionId: Int, _ change: (inout Entitlement) -> Void) {
        guard let index = entitlements.lastIndex(where: { $0.subscriptionId == subscriptionId }) else { return }
        change(&entitlements[index])
    }
}
