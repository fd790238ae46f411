extension LedgerChange {
    /// The ledger as a grant would leave it. It decides whether access runs at all: the store may have revoked the
    /// purchase before Cleeng granted it.
    ///
    /// - Parameter found: the subscription before the grant, with the statements about every owner.
    public init(_ grant: Ownership.Grant, found: Found, terms: Terms, offers: Offers) {
        var found = found
        found.owner = .init(customer: grant.customer, email: grant.email, offerID: grant.offerID)
        (found.granted, found.periods) = ([grant.offerID], [grant.periods])
        self.init(LedgerMessage(grant.name, LedgerStatement(grant)), found: found, terms: terms)
        evaluate(offers)
    }

    /// Why an offer gives no access although Cleeng grants it: `refunded`, `family_revoked`. Nil if the store has not
    /// revoked the purchase, or the product of the offer that is sold with others.
    public func reasonToEnd(_ offer: OfferID) -> String? {
        guard state?.status == .revoked || ledger.item(opening: offer)?.revocation != nil,
            case .ends(let reason) = access.verdicts[offer]
        else { return nil }
        return reason
    }

    /// Whether the store stated before that the subscription is over. A store may report a refund in this form alone, and
    /// Cleeng may not know of it.
    public var contradictsStore: Bool { found.ledger.end?.isOver ?? false }

    /// The end of the access that the grant of an offer gives; nil if it is not known here.
    public func end(of offer: OfferID) -> Timestamp? {
        guard case .goesOn(let end?) = access.verdicts[offer], end > found.now else { return nil }
        return end
    }
}

extension LedgerChange.Found {
    /// Adds the grants of one settlement, which its transaction has not written yet.
    ///
    /// - Parameters:
    ///   - name: the subscription's own, which no receipt names if it stands alone.
    ///   - subscription: the owner that the settlement leaves.
    ///   - grants: the grants that it writes.
    ///   - isTransfer: whether it ends the grants to the owner before.
    public mutating func add(
        _ grants: [Ownership.Grant], to name: SubscriptionName, of subscription: Ownership.Subscription,
        isTransfer: Bool
    ) {
        username = subscription.username
        if let owner = subscription.owner {
            self.owner = .init(customer: owner.customer, email: owner.email, offerID: owner.offerID)
            ownerValidation = owner.validation
            ownerNo = subscription.ownerNo
            ledger.keepStatements(aboutOwner: subscription.ownerNo)
        }
        self.isTransfer = isTransfer
        bundleID = bundleID ?? grants.lazy.compactMap(\.bundleID).first
        isFirstGrant = granted.isEmpty && grants.allSatisfy { $0.reasonToEnd == nil }
        if isTransfer {
            // The grant to the owner before may be newer than the read behind this one.
            ledger.forgetCleeng()
            granted = []
        }
        granted.formUnion(grants.map(\.offerID))
        if !name.standsAlone { periods += grants.map(\.periods) }
    }
}

extension LedgerMessage {
    /// Cleeng's grants on one subscription. The newest counts, and of each offer its own.
    ///
    /// - Parameter grants: at least one.
    public init(grants: [Ownership.Grant], on name: SubscriptionName) {
        var statement = LedgerStatement()
        for grant in grants.sorted(by: { $0.change.rankedAt < $1.change.rankedAt }) {
            let one = LedgerStatement(grant)
            statement.cleeng.merge(one.cleeng) { $1 }
            statement.granted = one.granted
        }
        self.init(name, statement, bundleID: grants.lazy.compactMap(\.bundleID).first)
    }
}

extension LedgerStatement {
    init(_ grant: Ownership.Grant) {
        self.init(
            grantOf: grant.offerID, at: grant.change.rankedAt, until: grant.change.grantedUntil, ownerNo: nil)
    }

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
