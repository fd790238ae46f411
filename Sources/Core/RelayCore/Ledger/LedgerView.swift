/// State of a subscription after a ``LedgerMessage``.
public struct LedgerView: Sendable {
    /// The customer about whom Cleeng would be asked.
    public struct Owner: Sendable, Hashable {
        public var customer: CustomerID
        public var email: EmailAddress
        public var offerID: OfferID

        public init(customer: CustomerID, email: EmailAddress, offerID: OfferID) {
            self.customer = customer
            self.email = email
            self.offerID = offerID
        }
    }

    public var name: SubscriptionName
    /// Bundle id of the app; nil if unknown.
    public var bundleID: BundleID?
    /// Nil if no purchase is known.
    public var state: SubscriptionState?
    /// The offers that it gives access to.
    public var access: SubscriptionAccess
    /// Offers that were granted on it, even if the access was revoked since.
    public var granted: Set<OfferID>
    /// Time of Cleeng's latest statement about each offer.
    public var askedAt: [OfferID: Timestamp]
    /// Nil if the subscription has no owner.
    public var owner: Owner?
    /// Whether the store has ever stated whether it renews.
    public var hasRenewalInfo: Bool
    /// See ``LedgerChange/isUnreported``.
    public var isUnreported: Bool
    /// See ``LedgerChange/isToBeAsked``.
    public var isToBeAsked: Bool
    /// When to ask a store other than Apple's again; nil if never.
    public var recheckAt: Timestamp?
    /// The id that the subscription has moved to; nil if this id is the present one.
    public var presentName: SubscriptionName?
    /// See ``LedgerChange/isOnlyLinked``.
    public var isOnlyLinked: Bool
    /// Number of periods that this change revoked.
    public var newRevocations: Int
    /// Time of the change by the database's clock.
    public var updatedAt: Timestamp

    public init(_ change: LedgerChange) {
        let (found, ledger) = (change.found, change.ledger)
        name = change.message.name
        bundleID = found.bundleID
        state = change.state
        access = change.access
        granted = change.granted
        askedAt = ledger.cleeng.mapValues(\.statedAt)
        owner = found.owner
        hasRenewalInfo = change.hasRenewalInfo
        isUnreported = change.isUnreported
        isToBeAsked = change.isToBeAsked
        recheckAt = change.recheckAt
        presentName = ledger.movedTo.map(name.under)
        isOnlyLinked = change.isOnlyLinked
        newRevocations = ledger.periods.count {
            $0.value.revocation != nil && found.ledger.periods[$0.key]?.revocation == nil
        }
        updatedAt = found.now
    }
}
