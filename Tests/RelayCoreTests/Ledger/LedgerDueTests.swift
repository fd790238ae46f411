import Testing

@testable import RelayCore

@Suite("When an updated ledger is due")
struct LedgerDueTests {
    struct Case: Sendable {
        var key: TransactionID = "1"
        var renews: Bool? = true
        var isOwned = true
        var movesTo: LedgerMove?
        /// Day of the update.
        var day: Double
        var asks = false
        /// `nil` if it is never due.
        var due: Timestamp?
    }

    @Test(
        "is when time alone changes it, soon after a question, and at a store's recheck",
        arguments: [
            Case(day: 1, due: Life.day(30)),
            Case(renews: nil, day: 1, due: Life.day(30)),
            Case(renews: false, day: 1, due: Life.day(30)),
            Case(renews: false, day: 31, due: nil),
            // The leeway for the renewal.
            Case(day: 30.02, due: Life.day(30) + Life.leeway),
            // The renewal is unreported: the question is due in ten seconds, or a minute if the caller asks it.
            Case(day: 31, due: Life.day(31) + .seconds(10)),
            Case(day: 31, asks: true, due: Life.day(31) + .seconds(60)),
            Case(isOwned: false, day: 31, due: Life.day(31) + .seconds(10)),
            // Its owner follows at once, and an asking caller takes him along.
            Case(movesTo: LedgerMove(to: "2", statedAt: Life.day(1)), day: 1, due: Life.day(1)),
            Case(
                movesTo: LedgerMove(to: "2", statedAt: Life.day(1)), day: 1, asks: true, due: Life.day(1) + .seconds(60)
            ),
            Case(isOwned: false, movesTo: LedgerMove(to: "2", statedAt: Life.day(1)), day: 1, asks: true, due: nil),
            // Google lists revoked purchases, Amazon and Roku do not.
            Case(key: "google:a", day: 0.5, due: Life.day(30)),
            // Of a canceled one Google may have renewed the subscription again.
            Case(key: "google:a", renews: false, day: 0.5, due: Life.day(1)),
            Case(key: "google:a", renews: false, day: 31, due: nil),
            Case(key: "amazon:a", day: 0.5, due: Life.day(1)),
            Case(key: "roku:a", day: 0.5, due: Life.day(1)),
            Case(key: "amazon:a", renews: nil, day: 0.5, due: Life.day(30)),
            // An overdue recheck waits an hour.
            Case(key: "amazon:a", day: 3, due: Life.day(3) + .seconds(3_600)),
            Case(key: "amazon:a", renews: false, day: 31, due: nil),
            Case(key: TransactionID("amazon:a#\(ValidationID.numbered(1))"), day: 0.5, due: Life.day(30)),
        ])
    func due(one: Case) throws {
        var history = LedgerHistory()
        let name = LedgerHistory.name(one.key)
        if one.isOwned { history.own(name) }
        var statement = LedgerStatement.month(renews: one.renews)
        statement.movesTo = one.movesTo
        #expect(try history.record(statement, on: name, day: one.day, asks: one.asks).dueAt == one.due)
    }

    @Test("of a due question, stays until its asker or a new statement of the store moves it")
    func staysDue() throws {
        var history = LedgerHistory()
        history.own()
        #expect(try !history.record(.month(), day: 1).staysDue)
        #expect(try history.record(day: 31).staysDue)
        #expect(try history.record(.month(), day: 31).staysDue, "the same statement is no new one")
        #expect(try !history.record(day: 31, asks: true).staysDue)
        for answer in [
            LedgerStatement(renewal: Life.renewal(true, told: 30.9)), .month(until: 30, told: 30.9),
            .over(statedAt: Life.day(30.9)),
        ] {
            var other = history
            #expect(try !other.record(answer, day: 31).staysDue)
        }
        // Cleeng's answer that postpones the question, and one about another offer that does not.
        var answered = history
        let runs = LedgerEnd(isOver: false, until: Life.day(40), statedAt: Life.day(31))
        #expect(try answered.record(LedgerStatement(cleeng: ["silver": runs]), day: 31).staysDue)
        #expect(try !answered.record(LedgerStatement(cleeng: ["gold": runs]), day: 31).staysDue)
    }

    @Test("is a day after the latest statement for a store that lists no revoked purchases")
    func recheck() throws {
        var history = LedgerHistory()
        let name = LedgerHistory.name("roku:a")
        #expect(try history.record(.month(), on: name, day: 1).recheckAt == Life.day(1))
        #expect(try history.record(.month(told: 5), on: name, day: 5).recheckAt == Life.day(6))
        // A late payment may restore access while the store retries it, and no longer.
        let retry = LedgerStatement(renewal: Life.renewal(true, retry: true, told: 31))
        #expect(try history.record(retry, on: name, day: 31).recheckAt == Life.day(32))
        #expect(try history.record(.over(statedAt: Life.day(32)), on: name, day: 32).recheckAt == nil)
        #expect(try history.record(.month(), day: 1).recheckAt == nil)
    }

    @Test("is an hour before the end of a subscription that was canceled at Google, and daily while it is unpaid")
    func recheckAtGoogle() throws {
        var history = LedgerHistory()
        let name = LedgerHistory.name("google:a")
        #expect(try history.record(.month(), on: name, day: 1).recheckAt == nil)
        let canceled = LedgerStatement.month(renews: false, told: 29.5)
        #expect(try history.record(canceled, on: name, day: 29.5).recheckAt == Life.day(30) - .seconds(3_600))
        let late = LedgerStatement.month(renews: false, told: 29.99)
        #expect(try history.record(late, on: name, day: 29.99).recheckAt == Life.day(30.99))
        let retry = LedgerStatement(renewal: Life.renewal(true, retry: true, told: 31))
        #expect(try history.record(retry, on: name, day: 31).recheckAt == Life.day(32))
    }

    @Test("is an hour before canceled or late access ends at any store", arguments: ["google:a", "amazon:a", "roku:a"])
    func lastLook(key: TransactionID) throws {
        var history = LedgerHistory()
        let name = LedgerHistory.name(key)
        let canceled = LedgerStatement.month(renews: false, told: 29.5)
        #expect(try history.record(canceled, on: name, day: 29.5).recheckAt == Life.day(30) - .seconds(3_600))
        var other = LedgerHistory()
        var late = LedgerStatement.month(told: 1)
        late.renewal = Life.renewal(true, grace: 33, told: 32.5)
        #expect(try other.record(late, on: name, day: 32.5).recheckAt == Life.day(33) - .seconds(3_600))
    }

    @Test("is a day after the answer for a paused subscription, and never for one that is over")
    func paused() throws {
        var history = LedgerHistory()
        let name = LedgerHistory.name("google:a")
        var pause = LedgerStatement.month(told: 10)
        pause.renewal = Life.renewal(true, told: 10)
        pause.end = LedgerEnd(isOver: true, statedAt: Life.day(10))
        #expect(try history.record(pause, on: name, day: 10).recheckAt == Life.day(11))
        pause.renewal = Life.renewal(false, told: 11)
        pause.end = LedgerEnd(isOver: true, statedAt: Life.day(11))
        #expect(try history.record(pause, on: name, day: 11).recheckAt == nil)
    }
}
