/// A change of a subscription's ledger: the ledger before and after. Its members decide what follows from the change.
public struct LedgerChange: Sendable {
    /// A subscription as the transaction read it.
    public struct Found: Sendable {
        public var ledger = SubscriptionLedger()
        /// The published status; nil if none was published.
        public var status: SubscriptionState.Status?
        public var expiresAt: Timestamp?
        public var willRenew: Bool?
        public var bundleID: BundleID?
        /// The owner's name at the publisher; nil if the subscription has no owner.
        public var username: Username?
        /// The owner by Cleeng's grant; nil if there is none.
        public var owner: LedgerView.Owner?
        public var ownerValidation: ValidationID?
        /// Nil if it has no owner.
        public var ownerNo: Int32?
        /// Periods in receipts that were bought under its id, one group for each receipt.
        public var periods: [[LedgerPeriod]] = []
        /// Offers that were granted on it, even if the access was revoked since.
        public var granted: Set<OfferID> = []
        /// Whether the change records the first grant on it, and none that the store had revoked before.
        public var isFirstGrant = false
        /// Whether the change records a grant to another customer than the owner before.
        public var isTransfer = false
        /// Time of the change by the database's clock.
        public var now = Timestamp(microseconds: 0)

        public init() {}
    }

    /// Settings of a change.
    public struct Terms: Sendable {
        /// How long after a period's end a renewal may still be reported.
        public var leeway: Duration
        /// Whether the caller asks the open questions itself.
        public var asks: Bool
        /// Time in which it must have asked them. Afterwards they become due for all workers.
        public var asksFor: Duration
        /// Time after a store's last statement when it is asked again: see ``LedgerChange/recheckAt``.
        public var recheck: Duration
        /// For a change that records grants: the stores that are asked at once about a new one. Nil for any other change.
        public var grantsAskedAt: Set<StorePlatform>?
        /// Defaults of the settings `RELAY_APPLE_RENEWAL_LEEWAY_SECONDS` and `RELAY_STORE_RECHECK_SECONDS`.
        public static let (standardLeeway, standardRecheck) = (Duration.seconds(3_600), Duration.seconds(86_400))

        public init(
            leeway: Duration, asks: Bool = false, asksFor: Duration = .seconds(60),
            recheck: Duration = Self.standardRecheck, grantsAskedAt: Set<StorePlatform>? = nil
        ) {
            self.leeway = leeway
            self.asks = asks
            self.asksFor = asksFor
            self.recheck = recheck
            self.grantsAskedAt = grantsAskedAt
        }
    }

    /// The catalogue's offers of a subscription's products; nil if they are unknown.
    public typealias Offers = (Set<ProductID>, SubscriptionName) -> [ProductID: [OfferID]]?

    /// The message, without its statement and note if its condition does not hold.
    public let message: LedgerMessage
    public let found: Found
    public internal(set) var ledger: SubscriptionLedger
    /// Offers that were granted on it, or under its former ids.
    public internal(set) var granted: Set<OfferID>
    public private(set) var state: SubscriptionState?
    /// Whether the same batch evaluates the id that this one moved to, and takes the owner there.
    var isFollowed = false
    package let terms: Terms

    /// Applies a statement. ``evaluate(_:)`` must follow.
    init(_ message: LedgerMessage, found: Found, terms: Terms) {
        var found = found
        // A subscription that moved here, or was granted before offers were stored, gets the owner's offer.
        if found.ledger.granted == nil, let owner = found.owner {
            found.ledger.apply(LedgerStatement(granted: LedgerGrant(offer: owner.offerID, at: .earliest)))
        }
        self.found = found
        self.terms = terms
        ledger = found.ledger
        granted = found.granted
        for periods in found.periods { ledger.apply(LedgerStatement(periods: periods)) }
        if case .whileOwned(let customer) = message.condition, customer != found.owner?.customer {
            // The owner changed after the question: the answer and its note are discarded.
            self.message = LedgerMessage(message.name)
        } else {
            self.message = message
        }
        ledger.apply(self.message.statement.bounded(by: ledger.lastKnownEnd, ownerNo: found.ownerNo))
    }

    /// Looks up the products' offers, then derives the status. Grants under former ids must be added before: if a
    /// product belongs to several offers, the granted one counts.
    mutating func evaluate(_ offers: Offers) {
        if let offers = offers(ledger.products, message.name) { ledger.setOffers(offers) }
        state = ledger.state(at: found.now, leeway: terms.leeway)
    }

    /// Present state of the granted access.
    public var access: SubscriptionAccess {
        SubscriptionAccess(ledger, granted: granted, at: found.now, leeway: terms.leeway)
    }

    /// Status to publish. While a late renewal is in question, the last published status stays.
    public var shown: SubscriptionState? {
        guard var shown = state, shown.status == .expired, shown.access == nil else { return state }
        // A subscription that was never published counts as active only if it has a grant.
        guard let was = found.status ?? (found.owner == nil ? nil : .active) else { return state }
        shown.status = was
        if was != .expired { shown.reason = nil }
        return shown
    }

    /// Whether the store has stated whether it renews. A purchase without an end needs no such statement.
    public var hasRenewalInfo: Bool {
        ledger.renewal != nil || ledger.periods.values.contains { $0.expiresAt == nil }
    }

    /// Whether its store has stated nothing since the grant. The answer would show renewal and price, and for stores
    /// other than Apple the purchase itself.
    public var isUnreported: Bool {
        !hasRenewalInfo && !message.name.standsAlone
            && (message.name.platform != .apple || state?.status == .active)
    }

    /// Whether the change records a grant of Cleeng's, and not only access that was found.
    public var recordsGrant: Bool {
        message.statement.granted.map { message.statement.cleeng[$0.offer] != nil } ?? false
    }

    /// Whether the store or Cleeng must be asked.
    public var isToBeAsked: Bool {
        !access.questions.isEmpty || state?.lookUpAt.map { $0 <= found.now } ?? false
    }

    /// Id of the newest transaction; nil if it is the subscription's own id.
    public var newestTransaction: TransactionID? {
        let newest = ledger.periods.values.max(by: SubscriptionLedger.isOlder)?.transactionID
        return newest == message.name.originalTransactionID ? nil : newest
    }
}

extension LedgerStatement {
    /// The statement as it applies to one subscription.
    ///
    /// An end statement covers the periods known by now: its source cannot know of a renewal that is stated later.
    ///
    /// - Parameters:
    ///   - lastKnownEnd: end of the last period known by now.
    ///   - ownerNo: number of the owner that Cleeng's statements are about.
    fileprivate func bounded(by lastKnownEnd: Timestamp?, ownerNo: Int32?) -> LedgerStatement {
        func bounded(_ end: LedgerEnd) -> LedgerEnd {
            LedgerEnd(
                isOver: end.isOver, until: end.isOver ? end.until ?? lastKnownEnd : end.until, statedAt: end.statedAt)
        }
        var statement = self
        statement.end = end.map(bounded)
        statement.cleeng = cleeng.mapValues(bounded)
        for offer in cleeng.keys { statement.cleeng[offer]?.ownerNo = ownerNo }
        return statement
    }
}
