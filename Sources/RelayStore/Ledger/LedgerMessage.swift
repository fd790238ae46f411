import Foundation
public import RelayCore

/// A statement about a subscription, and its entry in the timeline.
public struct LedgerMessage: Sendable {
    /// Entry in the subscription's timeline.
    public struct Note: Sendable {
        /// One of a fixed set, or the store's type of notification in lower case.
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

    /// Condition under which the statement applies. An answer about one customer's access does not apply after a
    /// transfer to another customer.
    public enum Condition: Sendable {
        case always
        /// `nil` requires that no customer owns the subscription.
        case whileOwned(by: CustomerID?)
    }

    public var name: SubscriptionName
    public var word: LedgerStatement
    public var condition: Condition
    public var bundleID: BundleID?
    /// Nil: there is no statement, and the subscription is only evaluated again. A change of status is still noted.
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
    /// This message, and one for each former id of the subscription, which states the move.
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

/// State of a subscription after a ``LedgerMessage``.
public struct LedgerResult: Sendable {
    /// The customer about whom Cleeng would be asked.
    public struct Owner: Sendable, Hashable {
        public var customer: CustomerID
        public var email: EmailAddress
        public var offerID: OfferID
    }

    public var name: SubscriptionName
    /// Bundle id of the app; nil if unknown.
    public var bundleID: BundleID?
    /// Nil if no purchase is known.
    public var standing: SubscriptionStanding?
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
    /// When to ask a store again that does not list revoked purchases; nil if never.
    public var recheckAt: Timestamp?
    /// Number of periods that this update revoked.
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
