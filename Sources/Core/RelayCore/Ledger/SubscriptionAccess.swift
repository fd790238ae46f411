/// Offers that a subscription gives access to at a moment. Polls, queries by customer and ledger transactions all use
/// this one decision. docs/design/ledger.md draws it.
public struct SubscriptionAccess: Sendable, Hashable {
    /// Offer of the present product, or of the newest grant if no catalogue has the product. Nil if Cleeng never
    /// granted.
    public private(set) var present: OfferID?
    /// Access to each granted offer and to the present one. An offer is missing while its access is unknown.
    public private(set) var verdicts: [OfferID: AccessVerdict] = [:]
    /// Offers to ask Cleeng about now.
    public private(set) var questions: Set<OfferID> = []
    /// Time of the next evaluation if no statement arrives before. Nil: time alone changes nothing.
    public private(set) var nextLookAt: Timestamp?

    private let leeway: Duration

    /// - Parameters:
    ///   - offers: offers that were granted on it, even if the access was revoked since.
    ///   - leeway: how long after a period's end a renewal may still be reported.
    public init(_ ledger: SubscriptionLedger, granted offers: Set<OfferID>, at now: Timestamp, leeway: Duration) {
        self.leeway = leeway
        // The subscription continues under another id, and that id alone decides about access.
        guard ledger.movedTo == nil else { return }
        let state = ledger.state(at: now, leeway: leeway)
        present = ledger.offer(of: ledger.current(at: now))
        if let state { setPresentVerdict(by: state, at: now) }
        let isTakenBack = state?.status == .revoked
        for offer in offers.union(ledger.itemOffers) where offer != present {
            if isTakenBack, let verdict = state?.access {
                verdicts[offer] = verdict
            } else if let item = ledger.item(opening: offer), let state {
                setItemVerdict(item, opening: offer, of: ledger, state, at: now)
            } else {
                setFormerVerdict(of: offer, since: ledger.presentSince(at: now), ledger.cleeng[offer], at: now)
            }
        }
    }

    /// Sets the verdict about the present offer.
    private mutating func setPresentVerdict(by state: SubscriptionState, at now: Timestamp) {
        look(at: state.nextLookAt)
        guard let present else { return }
        verdicts[present] = state.access
        if let moment = state.lookUpAt, moment <= now { questions.insert(present) }
    }

    /// Sets the verdict about the offer of one item, which opens it until the item's own end. If the store has reported
    /// nothing since that end, the leeway for a renewal follows, and then Cleeng is asked.
    private mutating func setItemVerdict(
        _ item: LedgerPeriod, opening offer: OfferID, of ledger: SubscriptionLedger, _ state: SubscriptionState,
        at now: Timestamp
    ) {
        let end = ledger.itemEnd(item)
        if let revocation = item.revocation {
            verdicts[offer] = .ends(reason: revocation.kind == .familyRevoked ? "family_revoked" : "refunded")
        } else if ledger.isEnded(item) {
            verdicts[offer] = .ends(reason: "expired")
        } else if let current = ledger.current(at: now), ledger.endsTogether(item, with: current) {
            verdicts[offer] = state.access
            if let moment = state.lookUpAt, moment <= now { questions.insert(offer) }
        } else if end > now {
            verdicts[offer] = .goesOn(expiresAt: item.expiresAt.map { min($0, end) })
            if item.expiresAt != nil { look(at: end) }
        } else if item.statedAt >= end || !ledger.isListed(item) || ledger.willRenew(item) == false {
            verdicts[offer] = .ends(reason: "expired")
        } else if end + leeway > now {
            verdicts[offer] = .goesOn(expiresAt: nil)
            look(at: end + leeway)
        } else {
            setFormerVerdict(of: offer, since: end, ledger.cleeng[offer], reason: "expired", at: now)
        }
    }

    /// Sets the verdict about an offer that the subscription has left. Cleeng is asked once, and again at each end that
    /// it states.
    private mutating func setFormerVerdict(
        of offer: OfferID, since: Timestamp?, _ said: LedgerEnd?, reason: String = "replaced", at now: Timestamp
    ) {
        guard let said, since.map({ said.statedAt > $0 }) ?? true else {
            questions.insert(offer)
            return look(at: now)
        }
        guard !said.isOver else {
            verdicts[offer] = .ends(reason: reason)
            return
        }
        let next = said.asksAgainAt(leeway: leeway)
        look(at: next)
        if next > now {
            verdicts[offer] = .goesOn(expiresAt: said.until.flatMap { $0 > now ? $0 : nil })
        } else {
            questions.insert(offer)
        }
    }

    private mutating func look(at moment: Timestamp?) {
        nextLookAt = [nextLookAt, moment].compactMap(\.self).min()
    }
}

extension SubscriptionLedger {
    /// Time since which the subscription has its present offer. Cleeng's statement about another offer counts only if
    /// it is newer, since the subscription had not left that offer before.
    fileprivate func presentSince(at now: Timestamp) -> Timestamp? {
        let period = current(at: now)
        guard let period, soldOffer(of: period) != nil else { return granted?.at }
        // The first period of the latest run of this product.
        let others = periods.values.filter { offer(of: $0) != offer(of: period) }
        let left = others.filter { Self.isOlder($0, period) }.max(by: Self.isOlder)
        let own = periods.values.filter { one in
            offer(of: one) == offer(of: period) && left.map { Self.isOlder($0, one) } ?? true
        }
        // Times of purchases are whole seconds, so a statement in that second may precede it. A store may state a renewal
        // before it begins.
        return own.map { $0.statedAt < $0.purchasedAt ? $0.statedAt : $0.purchasedAt + .seconds(1) }.min()
    }
}

/// Effect of a subscription's status on granted access.
public enum AccessVerdict: Sendable, Hashable {
    case goesOn(expiresAt: Timestamp?)
    /// `refunded`, `family_revoked`, `expired`.
    case ends(reason: String)
}

extension SubscriptionState {
    /// Effect on access. Nil if unknown: the relay asks about an unreported renewal before the subscription counts as
    /// expired. Until the answer, Cleeng's grant remains.
    public var access: AccessVerdict? {
        switch status {
        case .active: .goesOn(expiresAt: expiresAt)
        case .inGrace: .goesOn(expiresAt: changesAt ?? expiresAt)
        case .revoked: .ends(reason: reason ?? "refunded")
        case .inBillingRetry: .ends(reason: "expired")
        case .expired: lookUpAt == nil ? .ends(reason: "expired") : nil
        }
    }

    /// Time of the next evaluation if no statement arrives before; nil if never.
    public var nextLookAt: Timestamp? { [changesAt, lookUpAt].compactMap(\.self).min() }
}
