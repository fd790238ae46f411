import Testing

@testable import RelayCore

@Suite("A grant and its ledger")
struct FirstGrantTests {
    struct Case: Sendable {
        var known = LedgerStatement()
        /// Day on which the receipt's period ends; `nil` without a receipt.
        var receiptEnds: Double?
        var product = "month"
        var isRefunded = false
        /// Day on which Cleeng's access ends.
        var accessEnds: Double?
        var asks = false
        var isFirst = true
        /// End of access; only for a first grant.
        var expires: Double?
        var reasonToEnd: String?
        var contradictsStore = false
    }

    @Test(
        "are stored together unless the relay must ask first",
        arguments: [
            Case(accessEnds: 20, expires: 20),
            Case(),
            Case(receiptEnds: 30, expires: 30),
            Case(receiptEnds: 30, accessEnds: 20, expires: 30),
            // Over by the receipt, by minutes and by a day.
            Case(receiptEnds: 9.99, accessEnds: 20, expires: 20),
            Case(receiptEnds: 9),
            Case(receiptEnds: 30, asks: true, isFirst: false),
            Case(receiptEnds: 30, product: "year", isFirst: false),
            Case(receiptEnds: 30, isRefunded: true, isFirst: false, reasonToEnd: "refunded"),
            Case(
                known: .month(revoked: .familyRevoked, told: 5), isFirst: false, reasonToEnd: "family_revoked"),
            Case(known: .over(statedAt: Life.day(5)), accessEnds: 20, expires: 20, contradictsStore: true),
        ])
    func first(one: Case) {
        let now = Life.day(10)
        var ledger = SubscriptionLedger()
        ledger.apply(one.known)
        let ends = one.accessEnds.map { Life.day($0) }
        let change = Decision.Change(status: .granted, at: now, expiresAt: ends, observedAt: now + .seconds(-1))
        let granted = GrantedLedger(
            change, to: LedgerHistory.owner, on: LedgerHistory.name, in: ledger, bundleID: "com.example.tv",
            periods: [one.receiptEnds].compactMap(\.self).map { end in
                Life.period(
                    "1", from: 0, until: end, product: one.product, revoked: one.isRefunded ? .refunded : nil, told: 0)
            }, now: now, leeway: Life.leeway, offers: { _, _ in ["month": ["gold"], "year": ["silver"]] })
        #expect(granted.reasonToEnd == one.reasonToEnd)
        #expect(granted.contradictsStore == one.contradictsStore)
        var asked: LedgerResult?
        let first = FirstGrant(granted) {
            asked = $0
            return one.asks
        }
        #expect((first != nil) == one.isFirst)
        guard let first else { return }
        #expect(first.expiresAt == one.expires.map { Life.day($0) })
        #expect(first.updated.dueAt.map { $0 > now } == true)
        #expect(first.updated.ledger.granted == LedgerGrant(offer: "gold", at: now + .seconds(-1)))
        #expect(first.updated.ledger.cleeng["gold"]?.ownerNo == 1)
        #expect(asked?.owner == LedgerHistory.owner && asked?.bundleID == "com.example.tv")
    }

    @Test("of products that are sold together opens each one's offer")
    func items() throws {
        let now = Life.day(10)
        let change = Decision.Change(status: .granted, at: now, observedAt: now + .seconds(-1))
        let periods = [("2", "month"), ("1", "add-on")].map { id, product in
            Life.period(id, from: 0, until: 30, product: product, told: 0)
        }
        func granted(_ periods: [LedgerPeriod], _ offer: OfferID = LedgerHistory.owner.offerID) -> GrantedLedger {
            var owner = LedgerHistory.owner
            owner.offerID = offer
            return GrantedLedger(
                change, to: owner, on: LedgerHistory.name, in: SubscriptionLedger(), bundleID: nil, periods: periods,
                now: now, leeway: Life.leeway, offers: { _, _ in ["month": ["gold"], "add-on": ["sports"]] })
        }
        // A receipt may say already that one of them was refunded.
        var refunded = periods
        refunded[1].revocation = .init(at: now, kind: .refunded)
        #expect(granted(refunded, "sports").reasonToEnd == "refunded")
        #expect(granted(refunded).reasonToEnd == nil && granted(periods, "sports").reasonToEnd == nil)
        let first = try #require(FirstGrant(granted(periods)) { _ in false })
        #expect(first.updated.ledger.items == ["month", "add-on"])
        let access = first.updated.access.verdicts
        #expect(access == ["gold": .goesOn(expiresAt: Life.day(30)), "sports": .goesOn(expiresAt: Life.day(30))])
    }
}
