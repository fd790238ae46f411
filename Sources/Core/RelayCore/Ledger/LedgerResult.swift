/// State of a subscription after a ``LedgerMessage``.
public struct LedgerResult: Sendable {
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
    /// See ``UpdatedLedger/isUnreported``.
    public var isUnreported: Bool
    /// See ``UpdatedLedger/isToBeAsked``.
    public var isToBeAsked: Bool
    /// When to ask a store other than Apple's again; nil if never.
    public var recheckAt: Timestamp?
    /// The id that the subscription has moved to; nil if this id is the present one.
    public var presentName: SubscriptionName?
    /// See ``UpdatedLedger/isOnlyLinked``.
    public var isOnlyLinked: Bool
    /// Number of periods that this update revoked.
    public var newRevocations: Int
    /// Time of the update by the database's clock.
    public var updatedAt: Timestamp

    public init(_ updated: UpdatedLedger) {
        let (found, ledger) = (updated.found, updated.ledger)
        name = updated.message.name
        bundleID = found.bundleID
        state = updated.state
        access = updated.access
        granted = updated.granted
        askedAt = ledger.cleeng.mapValues(\.statedAt)
        owner = found.owner
        hasRenewalInfo = updated.hasRenewalInfo
        isUnreported = updated.isUnreported
        isToBeAsked = updated.isToBeAsked
        recheckAt = updated.recheckAt
        presentName = ledger.movedTo.map(name.under)
        isOnlyLinked = updated.isOnlyLinked
        newRevocations = ledger.periods.count {
            $0.value.revocation != nil && found.ledger.periods[$0.key]?.revocation == nil
        }
        updatedAt = found.now
    }
}
