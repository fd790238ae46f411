/// Which offers a subscription opens at a moment: the one decision that polls, the question by customer and the watch go by.
/// docs/design/ledger.md draws it.
public struct SubscriptionAccess: Sendable, Hashable {
    /// Offer of the present product, or of the newest grant if no catalogue has the product. Nil if Cleeng never
    /// granted.
    public private(set) var present: OfferID?
    /// Access to each granted offer and to the present one. An offer is missing while its access is unknown.
    public private(set) var verdicts: [OfferID: AccessVerdict] = [:]
    /// Offers to ask Cleeng about now.
    public private(set) var questions: Set<OfferID> = []
    /// When it has to be looked at again without any statement. Nil: never; then nothing granted runs on it.
    public private(set) var nextLookAt: Timestamp?

    private let leeway: Duration

    /// - Parameters:
    ///   - offers: for which access was granted on it, whether it still runs or was taken back.
    ///   - leeway: how long after its end a renewal is waited for.
    public init(_ ledger: SubscriptionLedger, granted offers: Set<OfferID>, at now: Timestamp, leeway: Duration) {
        self.leeway = leeway
        // The end of one that has moved on changes nothing.
        guard ledger.movedTo == nil else { return }
        let standing = ledger.standing(at: now, leeway: leeway)
        present = ledger.offer(of: standing?.productID)
        if let standing { judge(standing, at: now) }
        let isTakenBack = standing?.status == .revoked
        for offer in offers.union(ledger.itemOffers) where offer != present {
            if isTakenBack, let verdict = standing?.access {
                verdicts[offer] = verdict
            } else if let item = ledger.item(opening: offer), let standing {
                judge(item, opening: offer, of: ledger, standing, at: now)
            } else {
                judge(left: offer, since: ledger.presentSince(at: now), ledger.cleeng[offer], at: now)
            }
        }
    }

    private mutating func judge(_ standing: SubscriptionStanding, at now: Timestamp) {
        look(at: standing.nextLookAt)
        guard let present else { return }
        verdicts[present] = standing.access
        if let moment = standing.lookUpAt, moment <= now { questions.insert(present) }
    }

    /// An item opens its offer until its own end. Where the store has said nothing since then, a renewal is waited for, and Cleeng is asked.
    private mutating func judge(
        _ item: LedgerPeriod, opening offer: OfferID, of ledger: SubscriptionLedger, _ standing: SubscriptionStanding,
        at now: Timestamp
    ) {
        let end = ledger.itemEnd(item)
        if let revocation = item.revocation {
            verdicts[offer] = .ends(reason: revocation.kind == .familyRevoked ? "family_revoked" : "refunded")
        } else if ledger.isEnded(item) {
            verdicts[offer] = .ends(reason: "expired")
        } else if let current = ledger.current(at: now), ledger.endsTogether(item, with: current) {
            verdicts[offer] = standing.access
            if let moment = standing.lookUpAt, moment <= now { questions.insert(offer) }
        } else if end > now {
            verdicts[offer] = .goesOn(expiresAt: item.expiresAt.map { min($0, end) })
            if item.expiresAt != nil { look(at: end) }
        } else if item.statedAt >= end || !ledger.isListed(item) || ledger.renewal?.willRenew == false {
            verdicts[offer] = .ends(reason: "expired")
        } else if end + leeway > now {
            verdicts[offer] = .goesOn(expiresAt: nil)
            look(at: end + leeway)
        } else {
            judge(left: offer, since: end, ledger.cleeng[offer], reason: "expired", at: now)
        }
    }

    /// Cleeng is asked once more when an offer is left, and again at the end that it names.
    private mutating func judge(
        left offer: OfferID, since: Timestamp?, _ said: LedgerEnd?, reason: String = "replaced", at now: Timestamp
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
    /// Since when the present offer is the one: what Cleeng said before then of another was not said of one that was left.
    fileprivate func presentSince(at now: Timestamp) -> Timestamp? {
        let period = current(at: now)
        guard let period, offers[period.productID] != nil else { return granted?.at }
        // The first period in a row of this product.
        let others = periods.values.filter { offer(of: $0.productID) != offer(of: period.productID) }
        let left = others.filter { Self.isOlder($0, period) }.max(by: Self.isOlder)
        let own = periods.values.filter { one in
            offer(of: one.productID) == offer(of: period.productID) && left.map { Self.isOlder($0, one) } ?? true
        }
        // What was said within the second of the purchase may have been said before it: receipts have whole seconds.
        return own.map { min($0.purchasedAt + .seconds(1), $0.statedAt) }.min()
    }
}

/// What a subscription's standing means for who was granted access on it.
public enum AccessVerdict: Sendable, Hashable {
    case goesOn(expiresAt: Timestamp?)
    /// `refunded`, `family_revoked`, `expired`.
    case ends(reason: String)
}

extension SubscriptionStanding {
    /// Nil where it is not known: a renewal without a statement is asked for before it counts as missing, and what
    /// Cleeng granted stands until then.
    public var access: AccessVerdict? {
        switch status {
        case .active: .goesOn(expiresAt: expiresAt)
        case .inGrace: .goesOn(expiresAt: changesAt ?? expiresAt)
        case .revoked: .ends(reason: reason ?? "refunded")
        case .inBillingRetry: .ends(reason: "expired")
        case .expired: lookUpAt == nil ? .ends(reason: "expired") : nil
        }
    }

    /// When it has to be looked at again without anybody's word; nil where it need not.
    public var nextLookAt: Timestamp? { [changesAt, lookUpAt].compactMap(\.self).min() }
}
