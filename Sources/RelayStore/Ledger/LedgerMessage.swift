import Foundation
public import RelayCore

/// A word about a subscription, and what is noted of it.
public struct LedgerMessage: Sendable {
    /// What the subscription's timeline shows of it.
    public struct Note: Sendable {
        /// A word of a fixed set, or the store's own type of notification in lower case.
        public var event: String
        /// When whoever knew said so; nil: now.
        public var saidAt: Timestamp?
        public var detail: String?
        var notification: UUID?

        public init(event: String, saidAt: Timestamp? = nil, detail: String? = nil) {
            self.event = event
            self.saidAt = saidAt
            self.detail = detail
        }
    }

    public var name: SubscriptionName
    public var word: LedgerWord
    public var bundleID: BundleID?
    /// Nil: nothing was said, it is only looked at again. A change of status is noted all the same.
    public var note: Note?

    public init(
        _ name: SubscriptionName, _ word: LedgerWord = LedgerWord(), bundleID: BundleID? = nil, note: Note? = nil
    ) {
        self.name = name
        self.word = word
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
                    LedgerWord(
                        movesTo: word.isCurrentAt.map { LedgerMove(to: name.originalTransactionID, toldAt: $0) }),
                    bundleID: bundleID, note: note)
            }
    }
}

/// How a subscription stands after a ``LedgerMessage``.
public struct HeardSubscription: Sendable {
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
    public var isTold: Bool
    /// By the database's clock.
    public var heardAt: Timestamp
}
