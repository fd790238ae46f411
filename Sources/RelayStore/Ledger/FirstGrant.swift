import Postgres
public import RelayCore

/// Hears the ledgers of grants after the settlement.
public protocol GrantListener: Sendable {
    /// How long after its end a subscription that will renew is waited for.
    var leeway: Duration { get }

    /// Whether the store or Cleeng has to be asked about a new subscription at once.
    func asks(about subscription: HeardSubscription) -> Bool

    /// Called after the commit with subscriptions whose ledgers have to hear of a grant. They become due if the listener does not.
    func hear(granted names: [SubscriptionName])
}

/// A grant that is the first statement on its subscription, as most are. The ledger follows from the grant and the receipt's period alone, so the
/// settlement writes it with the grant. What is granted on a known subscription is heard after the commit (``LedgerHearing``).
struct FirstGrant: Sendable {
    let heard: LedgerHearing.Heard
    /// Until when access runs.
    let expiresAt: Timestamp?

    /// Nil where a hearing has to follow: the relay would ask the store or Cleeng about the subscription, the receipt's product is sold by
    /// another offer, or access does not go on by what the receipt says (a refund).
    ///
    /// - Parameters:
    ///   - claimed: a purchase that made the row of `name`.
    ///   - period: what its receipt says.
    ///   - now: by the database's clock.
    init?(
        _ change: Decision.Change, of claimed: ClaimedPursuit, on name: SubscriptionName, bundleID: BundleID?,
        period: LedgerPeriod?, now: Timestamp, catalogue: OfferCatalogue, listener: any GrantListener
    ) {
        let offer = claimed.offerID
        var heard = LedgerHearing.Heard(message: LedgerMessage(name))
        heard.owner = .init(customer: claimed.customer, email: claimed.email, offerID: offer)
        (heard.now, heard.leeway, heard.bundleID) = (now, listener.leeway, bundleID)
        heard.granted = [offer]
        heard.ledger.hear(
            LedgerWord(grantOf: offer, at: change.observedAt ?? change.at, until: change.grantedUntil))
        if let period { heard.ledger.hear(LedgerWord(periods: [period])) }
        if let offers = catalogue.offers(of: heard.ledger.products, in: name) { heard.ledger.setOffers(offers) }
        heard.standing = heard.ledger.standing(at: now, leeway: listener.leeway)
        let access = heard.access
        guard access.present == offer, access.questions.isEmpty, case .goesOn(let end) = access.verdicts[offer],
            heard.dueAt.map({ $0 > now }) ?? false, !listener.asks(about: HeardSubscription(heard))
        else { return nil }
        self.heard = heard
        expiresAt = end.flatMap { $0 > now ? $0 : nil } ?? change.expiresAt
    }
}
