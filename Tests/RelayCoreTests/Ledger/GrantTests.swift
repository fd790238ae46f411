import Testing

@testable import RelayCore

@Suite("A grant in its ledger")
struct GrantTests {
    struct Case: Sendable {
        var known = LedgerStatement()
        /// Day on which the receipt's period ends; `nil` without a receipt.
        var receiptEnds: Double?
        var product = "month"
        var isRefunded = false
        /// Day on which Cleeng's access ends.
        var accessEnds: Double?
        var asked: Set<StorePlatform> = []
        var isDueNow = false
        /// End of access by the ledger.
        var expires: Double?
        var reasonToEnd: String?
        var contradictsStore = false
    }

    private static let now = Life.day(10)

    private func grant(
        of offer: OfferID = LedgerHistory.owner.offerID, number: UInt64 = 1, at moment: Timestamp = Self.now,
        until end: Timestamp? = nil, periods: [LedgerPeriod] = []
    ) -> Ownership.Grant {
        Ownership.Grant(
            id: .numbered(number), name: LedgerHistory.name, customer: LedgerHistory.owner.customer,
            email: LedgerHistory.owner.email, username: "ana", offerID: offer, acceptedAt: moment, deadline: moment,
            change: .init(status: .granted, at: moment, expiresAt: end, observedAt: moment + .seconds(-1)),
            entitledBefore: nil, periods: periods, bundleID: "com.example.tv")
    }

    private func update(
        _ grants: [Ownership.Grant], found: LedgerChange.Found, asked: Set<StorePlatform> = [],
        offers: @escaping LedgerChange.Offers = { _, _ in ["month": ["gold"], "year": ["silver"]] }
    ) throws -> LedgerBatch {
        var found = found
        found.add(grants, to: LedgerHistory.name, of: .init(alone: grants[0]), isTransfer: false)
        return LedgerBatch(
            [LedgerMessage(grants: grants, on: LedgerHistory.name)], found: [found],
            terms: .init(leeway: Life.leeway, grantsAskedAt: asked), offers: offers)
    }

    @Test(
        "is a statement of Cleeng's, gives access until the receipt's end, and ends what the store took back",
        arguments: [
            Case(accessEnds: 20, expires: 20),
            Case(),
            Case(receiptEnds: 30, expires: 30),
            Case(receiptEnds: 30, accessEnds: 20, expires: 30),
            // Over by the receipt, by minutes and by a day.
            Case(receiptEnds: 9.99, accessEnds: 20, expires: 20),
            Case(receiptEnds: 9),
            // The App Store has said nothing, and can be asked.
            Case(receiptEnds: 30, asked: [.apple], isDueNow: true, expires: 30),
            Case(receiptEnds: 30, asked: [.google], expires: 30),
            Case(known: .month(told: 5), asked: [.apple], expires: 30),
            Case(receiptEnds: 30, product: "year"),
            Case(receiptEnds: 30, isRefunded: true, asked: [.apple], reasonToEnd: "refunded"),
            Case(known: .month(revoked: .familyRevoked, told: 5), reasonToEnd: "family_revoked"),
            Case(known: .over(statedAt: Life.day(5)), accessEnds: 20, expires: 20, contradictsStore: true),
        ])
    func evaluated(one: Case) throws {
        var found = LedgerChange.Found()
        found.now = Self.now
        found.ledger.apply(one.known)
        let grant = grant(
            until: one.accessEnds.map { Life.day($0) },
            periods: [one.receiptEnds].compactMap(\.self).map { end in
                Life.period(
                    "1", from: 0, until: end, product: one.product, revoked: one.isRefunded ? .refunded : nil, told: 0)
            })
        let before = LedgerChange(
            grant, found: found, terms: .init(leeway: Life.leeway),
            offers: { _, _ in ["month": ["gold"], "year": ["silver"]] })
        #expect(before.reasonToEnd("gold") == one.reasonToEnd)
        #expect(before.contradictsStore == one.contradictsStore)

        let batch = try update([grant], found: found, asked: one.asked)
        let updated = try #require(batch.all.first)
        #expect(updated.end(of: "gold") == one.expires.map { Life.day($0) })
        #expect((updated.dueAt == Self.now) == one.isDueNow)
        #expect(updated.ledger.granted == LedgerGrant(offer: "gold", at: Self.now + .seconds(-1)))
        #expect(updated.ledger.cleeng["gold"]?.ownerNo == 1)
        let result = LedgerView(updated)
        #expect(result.owner == LedgerHistory.owner && result.bundleID == "com.example.tv")
        // Its validation is written with the end, so only an end of access changes it once more.
        #expect(batch.accessChanges.map(\.verdict) == (one.reasonToEnd.map { [.ends(reason: $0)] } ?? []))
    }

    @Test("of products that are sold together opens each one's offer")
    func items() throws {
        let periods = [("2", "month"), ("1", "add-on")].map { id, product in
            Life.period(id, from: 0, until: 30, product: product, told: 0)
        }
        var found = LedgerChange.Found()
        found.now = Self.now
        let offers: LedgerChange.Offers = { _, _ in ["month": ["gold"], "add-on": ["sports"]] }
        func reasonToEnd(_ offer: OfferID, _ periods: [LedgerPeriod]) -> String? {
            LedgerChange(
                grant(of: offer, periods: periods), found: found, terms: .init(leeway: Life.leeway), offers: offers
            ).reasonToEnd(offer)
        }
        // A receipt may say already that one of them was refunded.
        var refunded = periods
        refunded[1].revocation = .init(at: Self.now, kind: .refunded)
        #expect(reasonToEnd("sports", refunded) == "refunded")
        #expect(reasonToEnd("gold", refunded) == nil && reasonToEnd("sports", periods) == nil)
        let updated = try #require(try update([grant(periods: periods)], found: found, offers: offers).all.first)
        #expect(updated.ledger.items == ["month", "add-on"])
        let access = updated.access.verdicts
        #expect(access == ["gold": .goesOn(expiresAt: Life.day(30)), "sports": .goesOn(expiresAt: Life.day(30))])
    }

    @Test("with others of one settlement: the newest counts, and of each offer its own", arguments: [false, true])
    func several(isReversed: Bool) throws {
        let grants = [
            grant(of: "gold", number: 1, at: Life.day(9)), grant(of: "silver", number: 2, at: Life.day(8)),
            grant(of: "gold", number: 3, at: Life.day(7)),
        ]
        let message = LedgerMessage(grants: isReversed ? grants.reversed() : grants, on: LedgerHistory.name)
        #expect(message.statement.granted == LedgerGrant(offer: "gold", at: Life.day(9) + .seconds(-1)))
        #expect(message.statement.cleeng["gold"]?.statedAt == Life.day(9) + .seconds(-1))
        #expect(message.statement.cleeng["silver"]?.statedAt == Life.day(8) + .seconds(-1))
    }

    @Test("of a subscription that its store had to be asked about again leaves it due")
    func recheck() throws {
        var found = LedgerChange.Found()
        found.now = Self.now
        found.ledger.apply(.month(told: 5))
        let name = LedgerHistory.name("amazon:a")
        found.add([grant()], to: name, of: .init(alone: grant()), isTransfer: false)
        let batch = LedgerBatch(
            [LedgerMessage(grants: [grant()], on: name)], found: [found],
            terms: .init(leeway: Life.leeway, grantsAskedAt: []), offers: { _, _ in ["month": ["gold"]] })
        #expect(batch.all.first?.dueAt == Self.now)
    }

    @Test("after one that the store had taken back changes that one's access too")
    func again() throws {
        var found = LedgerChange.Found()
        found.now = Self.now
        var before = grant(number: 2)
        before.reasonToEnd = "refunded"
        #expect(try update([grant(), before], found: found).accessChanges.count == 1)
        #expect(try update([grant(), grant(number: 2)], found: found).accessChanges.isEmpty)
    }

    @Test(
        "that finds access ended reports the end to the publisher, not a purchase",
        arguments: [
            (
                was: SubscriptionState.Status.active, isRefunded: false, name: "1",
                reason: CustomerChange.Reason.purchased
            ),
            (was: .active, isRefunded: true, name: "1", reason: .refunded),
            // It had ended before.
            (was: .revoked, isRefunded: true, name: "1", reason: .purchased),
            // The grant is on another subscription of the customer.
            (was: .active, isRefunded: true, name: "2", reason: .purchased),
        ])
    func reason(
        was: SubscriptionState.Status, isRefunded: Bool, name: String, reason: CustomerChange.Reason
    ) throws {
        var found = LedgerChange.Found()
        found.now = Self.now
        found.status = was
        found.ledger.apply(.month(told: 5))
        if isRefunded { found.ledger.apply(.month(revoked: .refunded, told: 6)) }
        let purchased = CustomerChange(
            customer: CustomerName(publisher: LedgerHistory.name.publisher, username: "ana"), reason: .purchased,
            subscription: LedgerHistory.name(TransactionID(name)), trace: nil)
        let changes = try update([grant()], found: found).customerChanges(after: [purchased], trace: nil)
        #expect(changes.first?.reason == reason)
    }

    @Test("under a former id goes on to the present one at once")
    func moved() throws {
        var found = LedgerChange.Found()
        found.now = Self.now
        found.ledger.apply(LedgerStatement(movesTo: LedgerMove(to: "2", statedAt: Life.day(1))))
        #expect(try update([grant()], found: found).all.first?.dueAt == Self.now)
    }

    @Test("leaves no statement of Cleeng's about the owner before, and changes access of an earlier grant")
    func next() throws {
        var history = LedgerHistory()
        history.own()
        try history.record(.month(told: 0), day: 1)
        history.found[LedgerHistory.name]?.granted.insert("silver")
        var first = LedgerStatement(grantOf: "silver", at: Life.day(1), until: nil, ownerNo: 1)
        first.granted = nil
        try history.record(first, day: 2)
        var found = try #require(history.found[LedgerHistory.name])
        found.now = Self.now
        // The read behind that customer's grant may have been sent later than the read behind this one.
        found.ledger.apply(LedgerStatement(granted: LedgerGrant(offer: "silver", at: Life.day(11))))
        var subscription = Ownership.Subscription(alone: grant())
        subscription.ownerNo = 2
        found.add([grant()], to: LedgerHistory.name, of: subscription, isTransfer: true)
        let batch = LedgerBatch(
            [LedgerMessage(grants: [grant()], on: LedgerHistory.name)], found: [found],
            terms: .init(leeway: Life.leeway, grantsAskedAt: []), offers: { _, _ in ["month": ["gold"]] })
        let updated = try #require(batch.all.first)
        #expect(updated.ledger.cleeng["silver"] == nil && updated.ledger.cleeng["gold"]?.ownerNo == 2)
        #expect(updated.granted == ["gold"] && updated.access.questions.isEmpty)
        #expect(batch.accessChanges.map(\.offer) == ["gold"])
        // The update after this one reads what the new owner was granted before.
        #expect(updated.ledger.granted?.offer == "gold" && updated.dueAt == Self.now)
    }
}
