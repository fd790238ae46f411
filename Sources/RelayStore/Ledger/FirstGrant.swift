import Postgres
public import RelayCore

/// Updates ledgers after a settlement has granted.
public protocol GrantListener: Sendable {
    /// How long after its end a subscription that will renew is waited for.
    var leeway: Duration { get }

    /// Whether the store or Cleeng has to be asked about a new subscription at once.
    func asks(about subscription: LedgerResult) -> Bool

    /// Called after the commit with subscriptions whose ledgers must record a grant. Without that they become due.
    func updateLedgers(granted names: [SubscriptionName])
}

/// A subscription's ledger once it has a grant, read in the transaction that grants. It decides whether access runs at all: the store may have
/// taken the purchase back before Cleeng granted it.
struct GrantedLedger: Sendable {
    fileprivate let entry: LedgerUpdate.Entry
    fileprivate let offer: OfferID
    /// Whether the store said before the grant that the subscription is over. A store that takes a purchase back may say no more than that, and
    /// Cleeng may not know of it.
    let contradictsStore: Bool
    /// `owner_no` of a subscription that has just got its first owner. Only such a ledger is stored.
    private static let firstOwner: Int32 = 1

    /// - Parameters:
    ///   - ledger: what is known of the subscription; an empty one where nothing is.
    ///   - period: what the purchase's receipt says.
    ///   - now: by the database's clock.
    ///   - leeway: how long after its end a subscription that will renew is waited for.
    init(
        _ change: Decision.Change, of claimed: ClaimedPursuit, in ledger: SubscriptionLedger, bundleID: BundleID?,
        period: LedgerPeriod?, now: Timestamp, catalogue: OfferCatalogue, leeway: Duration
    ) {
        offer = claimed.offerID
        contradictsStore = ledger.end?.isOver ?? false
        var entry = LedgerUpdate.Entry(message: LedgerMessage(claimed.name), ledger: ledger)
        entry.owner = .init(customer: claimed.customer, email: claimed.email, offerID: offer)
        (entry.now, entry.leeway, entry.bundleID) = (now, leeway, bundleID)
        entry.granted = [offer]
        entry.ledger.apply(
            LedgerStatement(grantOf: offer, at: change.rankedAt, until: change.grantedUntil, ownerNo: Self.firstOwner))
        if let period { entry.ledger.apply(LedgerStatement(periods: [period])) }
        if let offers = catalogue.offers(of: entry.ledger.products, in: claimed.name) { entry.ledger.setOffers(offers) }
        entry.standing = entry.ledger.standing(at: now, leeway: leeway)
        self.entry = entry
    }

    /// Why the purchase opens nothing although Cleeng grants it: `refunded`, `family_revoked`. Nil where the store has not taken it back.
    var reasonToEnd: String? {
        guard entry.standing?.status == .revoked, case .ends(let reason) = entry.access.verdicts[offer] else {
            return nil
        }
        return reason
    }
}

/// A grant that is the first statement on its subscription, as most are. The ledger follows from the grant and the receipt's period alone, so the
/// settlement writes it with the grant. A grant on a known subscription is recorded after the commit (``LedgerUpdate``).
struct FirstGrant: Sendable {
    let entry: LedgerUpdate.Entry
    /// Until when access runs.
    let expiresAt: Timestamp?

    /// Nil where a ledger update has to follow: the relay would ask the store or Cleeng about the subscription, or the receipt's product is sold by
    /// another offer.
    ///
    /// - Parameter ledger: of a purchase that made its subscription's row, of which nothing was known.
    init?(_ change: Decision.Change, _ ledger: GrantedLedger, listener: any GrantListener) {
        let (entry, offer) = (ledger.entry, ledger.offer)
        let access = entry.access
        guard access.present == offer, access.questions.isEmpty, case .goesOn(let end) = access.verdicts[offer],
            entry.dueAt.map({ $0 > entry.now }) ?? false, !listener.asks(about: LedgerResult(entry))
        else { return nil }
        self.entry = entry
        expiresAt = end.flatMap { $0 > entry.now ? $0 : nil } ?? change.expiresAt
    }
}
