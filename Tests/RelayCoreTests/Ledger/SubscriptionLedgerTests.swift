import Testing

@testable import RelayCore

@Suite("The life of a subscription")
struct SubscriptionLedgerTests {
    @Test func aSubscriptionWithoutPeriodsHasNoStatus() {
        #expect(SubscriptionLedger().state(at: Life.day(1), leeway: Life.leeway) == nil)
    }

    @Test func itRunsAnHourPastItsEndWhileTheRenewalIsUnknown() throws {
        var life = Life()
        life.told(Life.period("1", from: 0), Life.renewal(true, told: 0))
        let state = try life.state(on: 29)
        #expect(state.status == .active)
        #expect(state.changesAt == Life.day(30))
        #expect(state.lookUpAt == Life.day(30) + Life.leeway)
        #expect(try life.status(on: 30.01) == .active)
        #expect(try life.status(on: 30.05) == .expired)
        #expect(try life.state(on: 40).lookUpAt == Life.day(30) + Life.leeway, "and is looked up still")
    }

    /// If Cleeng stated no end and sent no event, access would otherwise remain for ever.
    @Test func cleengIsAskedAgainWhateverEndItStated() throws {
        func asked(_ end: LedgerEnd) -> Timestamp? {
            var ledger = SubscriptionLedger()
            ledger.apply(LedgerStatement(cleeng: ["offer": end], granted: LedgerGrant(offer: "offer", at: Life.day(0))))
            return SubscriptionAccess(ledger, granted: ["offer"], at: Life.day(0), leeway: Life.leeway).nextLookAt
        }
        #expect(asked(LedgerEnd(isOver: false, until: Life.day(3), statedAt: Life.day(0))) == Life.day(3))
        #expect(asked(LedgerEnd(isOver: false, statedAt: Life.day(0))) == Life.day(7))
        #expect(asked(.runs(statedAt: Life.day(0))) == Life.day(0) + Life.leeway)
    }

    @Test func aRenewalExtendsAccess() throws {
        var life = Life()
        life.told(Life.period("1", from: 0), Life.renewal(true, told: 0))
        life.told(Life.period("2", from: 30), Life.renewal(true, told: 30))
        #expect(try life.status(on: 45) == .active)
        #expect(try life.state(on: 45).expiresAt == Life.day(60))
    }

    @Test func turningRenewalOffChangesNothingUntilTheEnd() throws {
        var life = Life()
        life.told(Life.period("1", from: 0), Life.renewal(true, told: 0))
        life.told(nil, Life.renewal(false, told: 10))
        let state = try life.state(on: 29)
        #expect(state.status == .active && state.willRenew == false && state.lookUpAt == nil)
        #expect(try life.status(on: 30) == .expired)
    }

    @Test func graceKeepsServingAndRetryAfterItDoesNot() throws {
        var life = Life()
        life.told(Life.period("1", from: 0), Life.renewal(true, told: 0))
        life.told(nil, Life.renewal(true, retry: true, grace: 46, told: 30))
        #expect(try life.status(on: 29.5) == .active)
        #expect(try life.status(on: 40) == .inGrace)
        #expect(try life.state(on: 40).changesAt == Life.day(46))
        #expect(try life.status(on: 46) == .inBillingRetry)
        #expect(try life.status(on: 89) == .inBillingRetry)
        #expect(try life.status(on: 90) == .expired)
        life.told(Life.period("2", from: 50, told: 50), Life.renewal(true, told: 50))
        #expect(try life.status(on: 51) == .active, "recovered")
    }

    @Test func retryWithoutGraceGivesNoAccess() throws {
        var life = Life()
        life.told(Life.period("1", from: 0), Life.renewal(true, retry: true, told: 29))
        #expect(try life.status(on: 29.5) == .active)
        #expect(try life.status(on: 30) == .inBillingRetry)
    }

    @Test func applesExpirationEndsIt() throws {
        var life = Life()
        life.told(Life.period("1", from: 0), Life.renewal(true, retry: true, told: 30))
        life.told(nil, Life.renewal(true, intent: 2, told: 90), over: true, on: 90)
        #expect(try life.status(on: 90) == .expired)
        #expect(try life.state(on: 90).lookUpAt == nil)
        life.told(Life.period("2", from: 100), Life.renewal(true, told: 100))
        #expect(try life.status(on: 101) == .active, "bought again")
    }

    @Test func aRefundEndsItAtOnceAndItsReversalRestoresIt() throws {
        var life = Life()
        life.told(Life.period("1", from: 0), Life.renewal(true, told: 0))
        life.told(Life.period("1", from: 0, revoked: .refunded, told: 5))
        let state = try life.state(on: 6)
        #expect(state.status == .revoked && state.reason == "refunded")
        life.told(Life.period("1", from: 0, told: 7))
        #expect(try life.status(on: 8) == .active)
    }

    @Test func aRefundOfAnEarlierPeriodEndsNothing() throws {
        var life = Life()
        life.told(Life.period("1", from: 0))
        life.told(Life.period("2", from: 30), Life.renewal(true, told: 30))
        life.told(Life.period("1", from: 0, revoked: .refunded, told: 40))
        #expect(try life.status(on: 41) == .active)
        life.told(Life.period("2", from: 30, revoked: .refunded, told: 42))
        #expect(try life.status(on: 43) == .revoked)
    }

    @Test func aMemberWhoLeavesTheFamilyLosesIt() throws {
        var life = Life()
        life.told(Life.period("1", from: 0, revoked: .familyRevoked, told: 3))
        #expect(try life.state(on: 4).reason == "family_revoked")
    }

    @Test func anUpgradeActsAtOnce() throws {
        var life = Life()
        life.told(Life.period("1", from: 0, until: 365, product: "cheap year"))
        life.told(Life.period("2", from: 10, product: "dear month", replaces: true))
        let state = try life.state(on: 11)
        #expect(state.productID == "dear month" && state.expiresAt == Life.day(40))
        #expect(try life.status(on: 41) == .expired, "the year is over with the upgrade")
    }

    /// Receipts have whole seconds, so a grant within the second of the upgrade may be older than the upgrade.
    /// A receipt of the very second counts like a later one.
    @Test(arguments: [(0.4, true), (1.2, false)], [0.0, 0.3, 5])
    func cleengsGrantFromBeforeAnUpgradeDoesNotCountAfterIt(grant: (saidAfter: Double, isAsked: Bool), told: Double) {
        let upgraded = Timestamp(seconds: 1_800_000_000)
        func period(_ id: TransactionID, _ product: ProductID, at start: Timestamp, replaces: Bool) -> LedgerPeriod {
            LedgerPeriod(
                id: id, productID: product, purchasedAt: start, expiresAt: start + Life.day * 30,
                replacesEarlier: replaces, statedAt: start + .seconds(told))
        }
        var ledger = SubscriptionLedger()
        ledger.apply(
            LedgerStatement(
                periods: [
                    period("1", "cheap", at: upgraded + .seconds(-100), replaces: false),
                    period("2", "dear", at: upgraded, replaces: true),
                ],
                cleeng: [
                    "CHEAP": LedgerEnd(
                        isOver: false, until: upgraded + Life.day * 30, statedAt: upgraded + .seconds(grant.saidAfter))
                ]))
        ledger.setOffers(["cheap": ["CHEAP"], "dear": ["DEAR"]])
        let access = SubscriptionAccess(
            ledger, granted: ["CHEAP", "DEAR"], at: upgraded + .seconds(10), leeway: .seconds(60))
        #expect(access.present == "DEAR")
        #expect(access.questions == (grant.isAsked ? ["CHEAP"] : []))
    }

    @Test func aDowngradeActsAtTheNextRenewal() throws {
        var life = Life()
        life.told(Life.period("1", from: 0, product: "dear"), Life.renewal(true, product: "cheap", told: 10))
        #expect(try life.state(on: 11).productID == "dear")
        #expect(try life.state(on: 11).autoRenewProductID == "cheap")
        life.told(Life.period("2", from: 30, product: "cheap"), Life.renewal(true, product: "cheap", told: 30))
        #expect(try life.state(on: 31).productID == "cheap")
    }

    @Test func aPurchaseWithoutAnEndRunsUntilItIsRevoked() throws {
        var ledger = SubscriptionLedger()
        var period = Life.period("1", from: 0)
        period.expiresAt = nil
        ledger.apply(LedgerStatement(periods: [period]))
        #expect(ledger.state(at: Life.day(9_999), leeway: Life.leeway)?.status == .active)
        period.revocation = LedgerPeriod.Revocation(at: Life.day(2), kind: .refunded)
        period.statedAt = Life.day(2)
        ledger.apply(LedgerStatement(periods: [period]))
        #expect(ledger.state(at: Life.day(9_999), leeway: Life.leeway)?.status == .revoked)
    }

    @Test func anUpgradedPeriodCountsUntilItsSuccessorIsKnown() throws {
        var life = Life()
        life.told(Life.period("1", from: 0))
        life.told(Life.period("2", from: 30, isUpgraded: true, told: 40))
        #expect(try life.status(on: 41) == .active)
        life.told(Life.period("3", from: 40, until: 50, product: "dear", replaces: true))
        #expect(try life.state(on: 45).productID == "dear")
        #expect(try life.status(on: 55) == .expired)
    }

    @Test func aFailedPaymentOfAnEarlierPeriodDoesNotCountForTheNext() throws {
        var life = Life()
        life.told(Life.period("1", from: 0), Life.renewal(true, retry: true, grace: 46, told: 30))
        // The payment succeeded within grace, and the new period begins at the end of the old one.
        life.told(Life.period("2", from: 30, told: 40))
        #expect(try life.status(on: 60) == .active, "the next word is waited for")
        #expect(try life.status(on: 61) == .expired)
    }

    @Test func theLatestStatementAboutTheEndCounts() throws {
        var life = Life()
        life.told(Life.period("1", from: 0), Life.renewal(true, told: 0))
        life.told(over: true, on: 10)
        #expect(try life.status(on: 11) == .expired)
        life.told(Life.period("1", from: 0, told: 12))
        #expect(try life.status(on: 13) == .active)
    }

    @Test func timesEqualInWholeSecondsAreOneMoment() {
        var early = Life.period("1", from: 1)
        early = LedgerPeriod(
            id: "1", productID: "month", purchasedAt: early.purchasedAt + .milliseconds(731),
            expiresAt: early.expiresAt,
            statedAt: early.statedAt)
        #expect(early == Life.period("1", from: 1))
    }

    @Test func anOlderStatementNeverReplacesANewerOne() throws {
        var life = Life()
        life.told(Life.period("1", from: 0, revoked: .refunded, told: 5), Life.renewal(false, told: 5))
        life.told(Life.period("1", from: 0, told: 1), Life.renewal(true, told: 1))
        #expect(try life.status(on: 6) == .revoked)
        #expect(try life.state(on: 6).willRenew == false)
    }

    /// Day 30: the period ends. Day 31: no renewal is known yet, and the store states the end. Day 32: the renewal's
    /// statement of day 30 arrives.
    @Test func aLateRenewalOutranksAnEndStatedWithoutIt() throws {
        var life = Life()
        life.told(Life.period("1", from: 0), Life.renewal(true, told: 0))
        life.words.append(
            LedgerStatement(end: LedgerEnd(isOver: true, until: Life.day(30), statedAt: Life.day(31))))
        #expect(try life.status(on: 31.5) == .expired)
        life.told(Life.period("2", from: 30))
        #expect(try life.status(on: 32) == .active)
        // A later statement about the new period counts.
        life.words.append(
            LedgerStatement(end: LedgerEnd(isOver: true, until: Life.day(60), statedAt: Life.day(33))))
        #expect(try life.status(on: 34) == .expired)
    }

    /// Day 30: the period ends. Day 31: the store states that the subscription runs until day 45.
    @Test func aLaterEndThatTheStoreStatesExtendsAccess() throws {
        var life = Life()
        life.told(Life.period("1", from: 0))
        life.words.append(
            LedgerStatement(end: LedgerEnd(isOver: false, until: Life.day(45), statedAt: Life.day(31))))
        let state = try life.state(on: 40)
        #expect(state.status == .active)
        #expect(state.expiresAt == Life.day(45))
        #expect(state.lookUpAt == Life.day(45) + Life.leeway)
        #expect(try life.state(on: 46).access == nil)
    }

    @Test func ofTwoStatementsAtOneTimeTheOneWithBillingRetryCounts() throws {
        for isReversed in [false, true] {
            var life = Life()
            life.told(Life.period("1", from: 0))
            let words = [
                LedgerStatement(renewal: Life.renewal(true, told: 29)),
                LedgerStatement(renewal: Life.renewal(true, retry: true, grace: 46, told: 29)),
            ]
            life.words += isReversed ? words.reversed() : words
            #expect(try life.status(on: 31) == .inGrace)
        }
    }

    @Test func aSubscriptionThatMovedBackIsNotMoved() {
        var ledger = SubscriptionLedger()
        ledger.apply(LedgerStatement(movesTo: LedgerMove(to: "2", statedAt: Life.day(10))))
        #expect(ledger.movedTo == "2")
        ledger.apply(LedgerStatement(movesFrom: ["2"], isCurrentAt: Life.day(20)))
        #expect(ledger.movedTo == nil)
        ledger.apply(LedgerStatement(movesTo: LedgerMove(to: "3", statedAt: Life.day(30))))
        #expect(ledger.movedTo == "3")
    }

    @Test func onlyTheNewestPeriodsAreKept() {
        var ledger = SubscriptionLedger()
        for number in 0..<200 {
            ledger.apply(LedgerStatement(periods: [Life.period("\(number)", from: Double(number * 30))]))
        }
        #expect(ledger.periods.count == SubscriptionLedger.mostPeriods)
        #expect(ledger.periods["176"] != nil && ledger.periods["175"] == nil)
    }

    /// Google and Roku state the first purchase's time for all periods, and ids do not sort by time.
    @Test func thePeriodThatEndsLastIsKeptWhereAllBeginTogether() {
        var ledger = SubscriptionLedger()
        for number in 0..<120 {
            ledger.apply(
                LedgerStatement(periods: [Life.period("GPA.1..\(number)", from: 0, until: Double(number * 7 + 7))]))
        }
        #expect(ledger.periods["GPA.1..119"] != nil && ledger.periods["GPA.1..96"] != nil)
        #expect(ledger.periods["GPA.1..95"] == nil)
    }
}
