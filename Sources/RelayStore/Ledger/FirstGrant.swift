import Postgres
public import RelayCore

/// Updates ledgers after a settlement has granted.
public protocol GrantListener: Sendable {
    /// How long after a period's end a renewal may still be reported.
    var leeway: Duration { get }

    /// Whether the store or Cleeng must be asked about a new subscription at once.
    func asks(about subscription: LedgerResult) -> Bool

    /// Called after the commit with subscriptions whose ledgers must record a grant. Without this call they become due.
    func updateLedgers(granted names: [SubscriptionName])
}

/// A subscription's ledger including a grant, read in the granting transaction. It decides whether access runs at all:
/// the store may have revoked the purchase before Cleeng granted it.
struct GrantedLedger: Sendable {
    fileprivate let entry: LedgerUpdate.Entry
    fileprivate let offer: OfferID
    /// Whether the store stated before the grant that the subscription is over. A store may report no more than that
    /// for a refund, and Cleeng may not know of it.
    let contradictsStore: Bool
    /// `owner_no` of a subscription with its first owner. Only ledgers of such subscriptions are stored with the grant.
    private static let firstOwner: Int32 = 1

    /// - Parameters:
    ///   - ledger: known ledger of the subscription; an empty one if there is none.
    ///   - period: the receipt's period.
    ///   - now: time by the database's clock.
    ///   - leeway: how long after a period's end a renewal may still be reported.
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

    /// Why the purchase gives no access although Cleeng grants it: `refunded`, `family_revoked`. Nil if the store has
    /// not revoked it.
    var reasonToEnd: String? {
        guard entry.standing?.status == .revoked, case .ends(let reason) = entry.access.verdicts[offer] else {
            return nil
        }
        return reason
    }
}

/// A grant that is the first statement about its subscription, as most are. Only the grant and the receipt's period
/// make the ledger, so the settlement writes both. For a known subscription, ``LedgerUpdate`` records the grant after
/// the commit.
struct FirstGrant: Sendable {
    let entry: LedgerUpdate.Entry
    /// End of access.
    let expiresAt: Timestamp?

    /// Nil if a ledger update must follow. That is so if the relay would ask the store or Cleeng, or if the catalogue
    /// maps the receipt's product to another offer.
    ///
    /// - Parameter ledger: ledger of a purchase that created its subscription's row.
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
