import Testing

@testable import RelayCore

@Suite("An update of a ledger notifies the publisher")
struct LedgerNotificationTests {
    /// A statement on a day after a month that renews, and the expected notification.
    struct Case: Sendable {
        var statement = LedgerStatement()
        var day: Double
        /// `nil` if nothing is notified.
        var reason: CustomerChange.Reason?
        var isNewStatus = false
    }

    static let renewed = LedgerStatement(
        periods: [Life.period("2", from: 30)], renewal: Life.renewal(true, told: 30))

    @Test(
        "of each visible change, with its reason",
        arguments: [
            Case(day: 2),
            Case(statement: .month(), day: 2),
            Case(statement: renewed, day: 30, reason: .renewed),
            Case(
                statement: LedgerStatement(
                    periods: [Life.period("2", from: 30)], renewal: Life.renewal(false, told: 30)), day: 30,
                reason: .renewed),
            Case(statement: .month(renews: false, told: 2), day: 2, reason: .willLapse),
            Case(
                statement: .month(revoked: .refunded, told: 2), day: 2, reason: .refunded,
                isNewStatus: true),
            Case(
                statement: .month(revoked: .familyRevoked, told: 2), day: 2, reason: .revoked,
                isNewStatus: true),
            Case(
                statement: LedgerStatement(renewal: Life.renewal(true, retry: true, grace: 46, told: 30)), day: 31,
                reason: .enteredGracePeriod, isNewStatus: true),
            Case(
                statement: LedgerStatement(renewal: Life.renewal(true, retry: true, told: 30)), day: 31,
                reason: .expired, isNewStatus: true),
            Case(
                statement: .over(statedAt: Life.day(2)), day: 2, reason: .expired,
                isNewStatus: true),
            // The renewal is unreported: nothing is published before an answer.
            Case(day: 31),
            Case(
                statement: LedgerStatement(cleeng: ["gold": LedgerEnd(isOver: true, statedAt: Life.day(31))]), day: 31,
                reason: .expired, isNewStatus: true),
        ])
    func changes(one: Case) throws {
        var history = LedgerHistory()
        history.own()
        try history.record(.month(), day: 1)
        let updated = try history.record(one.statement, day: one.day)
        #expect(updated.notifiesPublisher == (one.reason != nil))
        #expect(one.reason == nil || updated.reason == one.reason)
        #expect(updated.hasNewStatus == one.isNewStatus)
        #expect(updated.isNoted == one.isNewStatus)
        let again = try history.record(one.statement, day: one.day)
        #expect(!again.notifiesPublisher && !again.isNoted)
    }

    @Test("that renews again, and of a price that its customer has agreed to")
    func intents() throws {
        var history = LedgerHistory()
        try history.record(.month(renews: false), day: 0)
        let again = try history.record(.month(renews: true, told: 1), day: 1)
        #expect(again.notifiesPublisher && again.reason == .willAutoRenew)
        for (consent, reason) in [(0, .other), (1, .priceChangeConfirmed)] as [(Int, CustomerChange.Reason)] {
            var renewal = Life.renewal(true, told: Double(2 + consent))
            renewal.priceConsent = consent
            let asked = try history.record(LedgerStatement(renewal: renewal), day: Double(2 + consent))
            #expect(asked.notifiesPublisher && asked.reason == reason)
        }
    }

    @Test("of a subscription that was never published, only by a noted statement")
    func first() throws {
        for renews in [true, false] {
            var history = LedgerHistory()
            let quiet = try history.record(.month(renews: renews), day: 0)
            #expect(!quiet.notifiesPublisher && quiet.isNoted)
            history.found = [:]
            let noted = try history.record(.month(renews: renews), note: .init(event: "subscribed"), day: 0)
            #expect(noted.notifiesPublisher && noted.reason == (renews ? .other : .willLapse))
        }
    }

    @Test("when an item ends beside one that runs on")
    func items() throws {
        var history = LedgerHistory()
        var statement = LedgerStatement.month()
        statement.periods.append(Life.period("2", from: 0, until: 10, product: "year", told: 0))
        try history.record(statement, day: 1)
        statement.renewal?.statedAt = Life.day(11)
        for index in statement.periods.indices { statement.periods[index].statedAt = Life.day(11) }
        let ended = try history.record(statement, day: 11)
        #expect(ended.notifiesPublisher && !ended.hasNewStatus && ended.reason == .other)
    }

    @Test("as active while a late renewal of a granted, unpublished subscription is unanswered")
    func shown() throws {
        var history = LedgerHistory()
        #expect(try history.record(.month(), day: 31).shown?.status == .expired)
        history.found = [:]
        history.own()
        let shown = try history.record(.month(), day: 31).shown
        #expect(shown?.status == .active && shown?.reason == nil)
    }
}
