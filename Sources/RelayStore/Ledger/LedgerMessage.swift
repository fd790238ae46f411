import Foundation
public import RelayCore

/// A word about a subscription, and what is noted of it.
public struct LedgerMessage: Sendable {
    /// What the subscription's timeline shows of it.
    public struct Note: Sendable {
        /// A word of a fixed set, or the store's own type of notification in lower case.
        public var event: String
        /// Time of the statement; nil: now.
        public var saidAt: Timestamp?
        public var detail: String?
        var notification: UUID?

        public init(event: String, saidAt: Timestamp? = nil, detail: String? = nil) {
            self.event = event
            self.saidAt = saidAt
            self.detail = detail
        }
    }

    /// Condition under which the word applies. An answer about one customer's access does not apply after a transfer to another customer.
    public enum Condition: Sendable {
        case always
        /// `nil` requires that no customer owns the subscription.
        case whileOwned(by: CustomerID?)
    }

    public var name: SubscriptionName
    public var word: LedgerStatement
    public var condition: Condition
    public var bundleID: BundleID?
    /// Nil: nothing was said, it is only looked at again. A change of status is noted all the same.
    public var note: Note?

    public init(
        _ name: SubscriptionName, _ word: LedgerStatement = LedgerStatement(), condition: Condition = .always,
        bundleID: BundleID? = nil, note: Note? = nil
    ) {
        self.name = name
        self.word = word
        self.condition = condition
        self.bundleID = bundleID
        self.note = note
    }
}

extension LedgerMessage {
    /// And one for each subscription that it was before: it has moved.
    public var withMoves: [LedgerMessage] {
        [self]
            + word.movesFrom.sorted().map { old in
                var note = note
                note?.event = "moved"
                note?.detail = "to \(name.originalTransactionID)"
                return LedgerMessage(
                    name.under(old),
                    LedgerStatement(
                        movesTo: word.isCurrentAt.map { LedgerMove(to: name.originalTransactionID, statedAt: $0) }),
                    bundleID: bundleID, note: note)
            }
    }
}

/// How a subscription stands after a ``LedgerMessage``.
public struct LedgerResult: Sendable {
    /// Whom Cleeng would have to be asked about.
    public struct Owner: Sendable, Hashable {
        public var customer: CustomerID
        public var email: EmailAddress
        public var offerID: OfferID
    }

    public var name: SubscriptionName
    /// The app's; nil where nobody said.
    public var bundleID: BundleID?
    /// Nil where nothing is known to have been bought.
    public var standing: SubscriptionStanding?
    /// Which offers it opens.
    public var access: SubscriptionAccess
    /// For which access was granted on it, whether it runs or was taken back.
    public var granted: Set<OfferID>
    /// When Cleeng said last how an offer stands; nil where it did not.
    public var askedAt: [OfferID: Timestamp]
    /// Nil where nobody has claimed it.
    public var owner: Owner?
    /// Whether the store has ever said what is to become of it.
    public var hasRenewalInfo: Bool
    /// When its store is to be asked again that lists nothing of what it took back; nil where that is not to be.
    public var recheckAt: Timestamp?
    /// How many of its periods were taken back by what was just said, and not before.
    public var newRevocations: Int
    /// Time of the update by the database's clock.
    public var updatedAt: Timestamp

    init(_ entry: LedgerUpdate.Entry) {
        name = entry.message.name
        bundleID = entry.bundleID
        standing = entry.standing
        access = entry.access
        granted = entry.granted
        askedAt = entry.ledger.cleeng.mapValues(\.statedAt)
        owner = entry.owner
        hasRenewalInfo = entry.hasRenewalInfo
        recheckAt = entry.recheckAt
        let before = entry.before.ledger.periods
        newRevocations = entry.ledger.periods.count {
            $0.value.revocation != nil && before[$0.key]?.revocation == nil
        }
        updatedAt = entry.now
    }
}
