/// A subscription's ledger including a grant, read in the granting transaction. It decides whether access runs at all:
/// the store may have revoked the purchase before Cleeng granted it.
public struct GrantedLedger: Sendable {
    fileprivate let updated: UpdatedLedger
    fileprivate let offer: OfferID
    fileprivate let change: Decision.Change
    /// Whether the store stated before the grant that the subscription is over. A store may report a refund in this
    /// form alone, and Cleeng may not know of the refund.
    public let contradictsStore: Bool
    /// `owner_no` of a subscription with its first owner. Only ledgers of such subscriptions are stored with the grant.
    private static let firstOwner: Int32 = 1

    /// - Parameters:
    ///   - owner: the customer to whom it is granted.
    ///   - ledger: known ledger of the subscription; an empty one if there is none.
    ///   - periods: the receipt's period, or one for each product that is sold together.
    ///   - now: time by the database's clock.
    ///   - leeway: how long after a period's end a renewal may still be reported.
    public init(
        _ change: Decision.Change, to owner: LedgerResult.Owner, on name: SubscriptionName,
        in ledger: SubscriptionLedger, bundleID: BundleID?, periods: [LedgerPeriod], now: Timestamp, leeway: Duration,
        offers: UpdatedLedger.Offers
    ) {
        offer = owner.offerID
        self.change = change
        contradictsStore = ledger.end?.isOver ?? false
        var found = UpdatedLedger.Found()
        (found.ledger, found.bundleID, found.owner, found.now) = (ledger, bundleID, owner, now)
        (found.ownerNo, found.granted) = (Self.firstOwner, [offer])
        found.periods = [periods]
        let grant = LedgerStatement(
            grantOf: offer, at: change.rankedAt, until: change.grantedUntil, ownerNo: Self.firstOwner)
        var updated = UpdatedLedger(LedgerMessage(name, grant), found: found, terms: .init(leeway: leeway))
        updated.evaluate(offers)
        self.updated = updated
    }

    /// Why the purchase gives no access although Cleeng grants it: `refunded`, `family_revoked`. Nil if the store has
    /// not revoked it, or the product of the offer that is sold with others.
    public var reasonToEnd: String? {
        let isTakenBack =
            updated.state?.status == .revoked || updated.ledger.item(opening: offer)?.revocation != nil
        guard isTakenBack, case .ends(let reason) = updated.access.verdicts[offer] else { return nil }
        return reason
    }
}

/// A grant that is the first statement about its subscription, as most are. Only the grant and the receipt's periods
/// make the ledger, so the settlement writes both. For a known subscription, a ledger update records the grant after
/// the commit.
public struct FirstGrant: Sendable {
    public let updated: UpdatedLedger
    /// End of access.
    public let expiresAt: Timestamp?

    /// Nil if a ledger update must follow: because the relay would ask the store or Cleeng, or because the catalogue
    /// maps the receipt's product to another offer.
    ///
    /// - Parameters:
    ///   - ledger: ledger of a purchase that created its subscription's row.
    ///   - asks: whether the store or Cleeng must be asked about a new subscription at once.
    public init?(_ ledger: GrantedLedger, asks: (LedgerResult) -> Bool) {
        let (updated, offer) = (ledger.updated, ledger.offer)
        let (access, now) = (updated.access, updated.found.now)
        guard access.present == offer, access.questions.isEmpty, case .goesOn(let end) = access.verdicts[offer],
            updated.dueAt.map({ $0 > now }) ?? false, !asks(LedgerResult(updated))
        else { return nil }
        self.updated = updated
        expiresAt = end.flatMap { $0 > now ? $0 : nil } ?? ledger.change.expiresAt
    }
}

extension LedgerStatement {
    /// Cleeng's statement, at the time of its grant, that the subscription runs.
    ///
    /// - Parameters:
    ///   - offer: nil for a grant from before offers were stored.
    ///   - ownerNo: number of the owner who got the grant.
    public init(grantOf offer: OfferID?, at moment: Timestamp, until end: Timestamp?, ownerNo: Int32?) {
        var end = LedgerEnd(isOver: false, until: end, statedAt: moment)
        end.ownerNo = ownerNo
        if let offer {
            self.init(cleeng: [offer: end], granted: LedgerGrant(offer: offer, at: moment))
        } else {
            self.init(end: end)
        }
    }
}
