extension Ownership {
    /// A grant whose lease is held, with the facts that its claim needs.
    public struct Grant: Sendable {
        public var id: ValidationID
        public var name: SubscriptionName
        public var customer: CustomerID
        public var email: EmailAddress
        public var username: Username
        public var offerID: OfferID
        public var acceptedAt: Timestamp
        public var deadline: Timestamp
        public var change: Decision.Change
        /// See ``OwnershipClaim/entitledBefore``.
        public var entitledBefore: Bool?
        public var ownerReading: OwnershipClaim.OwnerReading?
        public var progress: OwnershipClaim.ReadProgress
        /// See ``LedgerChange/reasonToEnd(_:)``.
        public var reasonToEnd: String?
        /// The receipt's period, or one for each product that is sold together.
        public var periods: [LedgerPeriod]
        /// Bundle id of the app; nil if unknown.
        public var bundleID: BundleID?
        /// Trace of the request that posted the purchase.
        public var trace: String?

        public init(
            id: ValidationID, name: SubscriptionName, customer: CustomerID, email: EmailAddress, username: Username,
            offerID: OfferID, acceptedAt: Timestamp, deadline: Timestamp, change: Decision.Change,
            entitledBefore: Bool?, ownerReading: OwnershipClaim.OwnerReading? = nil,
            progress: OwnershipClaim.ReadProgress = .init(), reasonToEnd: String? = nil,
            periods: [LedgerPeriod] = [], bundleID: BundleID? = nil, trace: String? = nil
        ) {
            self.id = id
            self.name = name
            self.customer = customer
            self.email = email
            self.username = username
            self.offerID = offerID
            self.acceptedAt = acceptedAt
            self.deadline = deadline
            self.change = change
            self.entitledBefore = entitledBefore
            self.ownerReading = ownerReading
            self.progress = progress
            self.reasonToEnd = reasonToEnd
            self.periods = periods
            self.bundleID = bundleID
            self.trace = trace
        }

        func isOlder(than other: Grant) -> Bool {
            (acceptedAt, id.high, id.low) < (other.acceptedAt, other.id.high, other.id.low)
        }

        var claim: OwnershipClaim {
            OwnershipClaim(
                acceptedAt: acceptedAt, observedAt: change.observedAt ?? change.at, entitledBefore: entitledBefore,
                isProven: change.isProven, ownerReading: ownerReading, progress: progress)
        }
    }

    /// A subscription as read from the database, updated after each claim.
    public struct Subscription: Sendable {
        /// Nil if the subscription has no owner, or one that is known by username alone.
        public var owner: Owner?
        public var username: Username
        public var ownerNo: Int32
        /// Validation whose grant inserted the row in the current transaction. Nil if the row existed before.
        public var insertedBy: ValidationID?
        /// Whether a grant of this batch inserted the row or was granted on it. No other customer's grant takes it in the
        /// same batch.
        var isGranted: Bool

        public init(owner: Owner?, username: Username, ownerNo: Int32, insertedBy: ValidationID? = nil) {
            self.owner = owner
            self.username = username
            self.ownerNo = ownerNo
            self.insertedBy = insertedBy
            isGranted = insertedBy != nil
        }

        /// The subscription of a grant that stands alone.
        public init(alone grant: Grant) {
            self.init(owner: Owner(of: grant, acceptedAt: grant.acceptedAt), username: grant.username, ownerNo: 1)
        }
    }

    public struct Owner: Sendable {
        public var customer: CustomerID
        public var email: EmailAddress
        public var offerID: OfferID
        public var validation: ValidationID
        /// Facts that a claim against this owner needs.
        public var claim: OwnershipClaim.Owner

        public init(
            customer: CustomerID, email: EmailAddress, offerID: OfferID, validation: ValidationID,
            claim: OwnershipClaim.Owner
        ) {
            self.customer = customer
            self.email = email
            self.offerID = offerID
            self.validation = validation
            self.claim = claim
        }

        /// The customer of a grant.
        init(of grant: Grant, acceptedAt: Timestamp, newestWaiting: Timestamp? = nil) {
            self.init(
                customer: grant.customer, email: grant.email, offerID: grant.offerID, validation: grant.id,
                claim: OwnershipClaim.Owner(
                    acceptedAt: acceptedAt, since: grant.change.at,
                    unsettledUntil: grant.change.at + (grant.deadline - grant.acceptedAt),
                    newestWaiting: newestWaiting))
        }
    }
}
