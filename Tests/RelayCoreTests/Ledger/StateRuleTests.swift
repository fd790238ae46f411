import Testing

@testable import RelayCore

/// A month from day 0 to day 30, unless a case says otherwise.
@Suite("The rule that decides a subscription's status")
struct StateRuleTests {
    struct Case: Sendable {
        var rule: String
        var status: SubscriptionState.Status
        /// Nil: no purchase is known.
        var period: LedgerPeriod? = Life.period("1", from: 0)
        var renewal: LedgerRenewal?
        var end: LedgerEnd?
        var day: Double
        /// Day of the next change by time alone.
        var changes: Double?
        /// Day from which on the store should be asked.
        var asks: Double?

        static func over(_ told: Double, until end: Double? = nil) -> LedgerEnd {
            LedgerEnd(isOver: true, until: end.map { Life.day($0) }, statedAt: Life.day(told))
        }

        static func runs(_ told: Double, until end: Double? = nil) -> LedgerEnd {
            LedgerEnd(isOver: false, until: end.map { Life.day($0) }, statedAt: Life.day(told))
        }

        static var endless: LedgerPeriod {
            var period = Life.period("1", from: 0)
            period.expiresAt = nil
            return period
        }

        static var replaced: LedgerRenewal {
            var renewal = Life.renewal(false, told: 5)
            renewal.cancelationReason = .replaced
            return renewal
        }
    }

    /// An hour in days.
    private static let leeway = 1.0 / 24

    private static let cases = [
        Case(rule: "revoked", status: .revoked, period: Life.period("1", from: 0, revoked: .refunded), day: 1),
        Case(
            rule: "replaced", status: .active, renewal: Case.replaced, end: Case.over(5), day: 5,
            changes: 5 + 1.0 / 1_440),
        Case(rule: "ended", status: .expired, renewal: Case.replaced, end: Case.over(5), day: 5.1),
        Case(rule: "ended", status: .expired, end: Case.over(5), day: 5),
        Case(rule: "endless", status: .active, period: Case.endless, day: 400),
        Case(rule: "said to be over", status: .expired, period: nil, end: Case.over(5), day: 6),
        Case(
            rule: "said to run", status: .active, period: nil, end: Case.runs(5, until: 9), day: 6, changes: 9,
            asks: 9),
        Case(
            rule: "said to run", status: .active, period: Case.endless, end: Case.runs(5), day: 6, changes: 12,
            asks: 12),
        Case(rule: "said to run", status: .expired, period: nil, end: Case.runs(5, until: 9), day: 10, asks: 9),
        Case(rule: "paid", status: .active, day: 1, changes: 30, asks: 30 + Self.leeway),
        Case(rule: "paid", status: .active, renewal: Life.renewal(false, told: 1), day: 2, changes: 30),
        // It ends an earlier period than the one that is paid.
        Case(
            rule: "paid", status: .active, end: Case.over(5, until: 20), day: 6, changes: 30,
            asks: 30 + Self.leeway),
        Case(
            rule: "in grace", status: .inGrace, renewal: Life.renewal(true, retry: true, grace: 36, told: 30),
            day: 31, changes: 36),
        // The receipt was made after the end, and only repeats the period.
        Case(
            rule: "ended before", status: .expired, period: Life.period("1", from: 0, told: 40),
            end: Case.over(31), day: 41),
        Case(
            rule: "in billing retry", status: .inBillingRetry, renewal: Life.renewal(true, retry: true, told: 30),
            day: 31, changes: 90),
        Case(
            rule: "in billing retry", status: .inBillingRetry,
            renewal: Life.renewal(true, retry: true, grace: 36, told: 30), day: 37, changes: 90),
        Case(
            rule: "awaited", status: .active, day: 30.01, changes: 30 + Self.leeway, asks: 30 + Self.leeway),
        Case(
            rule: "awaited", status: .active, renewal: Life.renewal(false, told: 1), end: Case.runs(31, until: 35),
            day: 32, changes: 35 + Self.leeway, asks: 35 + Self.leeway),
        Case(rule: "unreported", status: .expired, day: 31, asks: 30 + Self.leeway),
        // Apple has given up.
        Case(
            rule: "unreported", status: .expired, renewal: Life.renewal(true, retry: true, told: 30), day: 91,
            asks: 30 + Self.leeway),
        Case(rule: "over", status: .expired, renewal: Life.renewal(false, told: 1), day: 31),
    ]

    @Test("is the first that applies", arguments: Self.cases)
    func first(one: Case) throws {
        var ledger = SubscriptionLedger()
        ledger.apply(
            LedgerStatement(periods: one.period.map { [$0] } ?? [], renewal: one.renewal, end: one.end))
        let decision = try #require(ledger.decision(at: Life.day(one.day), leeway: Life.leeway))
        #expect(decision.rule.name == one.rule)
        #expect(decision.state.status == one.status)
        #expect(decision.state.changesAt == one.changes.map { Life.day($0) })
        #expect(decision.state.lookUpAt == one.asks.map { Life.day($0) })
    }

    @Test("has a case here, and none applies to an empty ledger")
    func all() {
        #expect(SubscriptionLedger().decision(at: Life.day(1), leeway: Life.leeway) == nil)
        #expect(StateRule.all.map(\.name).filter { name in !Self.cases.contains { $0.rule == name } }.isEmpty)
    }
}
