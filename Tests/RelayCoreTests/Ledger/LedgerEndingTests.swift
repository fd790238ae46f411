import Testing

@testable import RelayCore

/// A purchase to which only an app gave its id, and what Apple signs about that id.
@Suite("Apple's word about an id that only an app named")
struct LedgerEndingTests {
    private func shown(by life: Life, on moment: Double) -> SubscriptionState? {
        var named = SubscriptionLedger()
        named.apply(
            LedgerStatement(
                cleeng: ["offer": LedgerEnd(isOver: false, until: Life.day(400), statedAt: Life.day(1))],
                granted: LedgerGrant(offer: "offer", at: Life.day(1))))
        named.end(by: [life.ledger], at: Life.day(moment), leeway: Life.leeway)
        return named.state(at: Life.day(moment), leeway: Life.leeway)
    }

    @Test func aRunningSubscriptionChangesNothing() throws {
        var life = Life()
        life.told(Life.period("1", from: 0), Life.renewal(true, told: 0))
        for moment in [2.0, 29, 40] {
            let state = try #require(shown(by: life, on: moment))
            #expect(state.status == .active && state.expiresAt == Life.day(400), "day \(moment)")
        }
    }

    @Test func aRefundEndsItUntilItIsReversed() throws {
        var life = Life()
        life.told(Life.period("1", from: 0), Life.renewal(true, told: 0))
        life.told(Life.period("1", from: 0, revoked: .refunded, told: 3))
        let state = try #require(shown(by: life, on: 4))
        #expect(state.status == .revoked && state.reason == "refunded")
        life.told(Life.period("1", from: 0, told: 5))
        #expect(shown(by: life, on: 6)?.status == .active)
        #expect(shown(by: life, on: 6)?.expiresAt == Life.day(400))
    }

    /// Cleeng's word from before it is over with it, and Cleeng's later word counts.
    @Test func anEndIsTakenAtItsTime() {
        var life = Life()
        life.told(Life.period("1", from: 0), Life.renewal(false, told: 0))
        life.told(over: true, on: 30)
        #expect(shown(by: life, on: 31)?.status == .expired)
        var early = Life()
        early.told(Life.period("1", from: -40), Life.renewal(false, told: -40))
        early.told(over: true, on: -10)
        #expect(shown(by: early, on: 31)?.status == .active)
    }

    @Test func anotherStoresNameHasNoNamesakes() {
        let google = SubscriptionName(publisher: "p", environment: .unknown, originalTransactionID: "google:token")
        #expect(google.namesakes.isEmpty && google.onlyNamed == nil)
        let apple = SubscriptionName(publisher: "p", environment: .unknown, originalTransactionID: "1")
        #expect(apple.namesakes.count == 4 && apple.onlyNamed == nil)
        #expect(apple.namesakes.allSatisfy { $0.onlyNamed == apple })
    }
}
