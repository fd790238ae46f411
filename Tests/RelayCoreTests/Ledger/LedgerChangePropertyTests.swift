import TestSupport
import Testing

@testable import RelayCore

@Suite("Random statements about a subscription")
struct LedgerChangePropertyTests {
    private static let names = ["1", "google:a", "amazon:a", "roku:a", "1#\(ValidationID.numbered(1))"]
        .map { LedgerHistory.name(TransactionID($0)) }

    /// Statements whose order does not matter, since an end names the period that it ends.
    private static func statements(_ generator: inout SeededGenerator) -> [LedgerStatement] {
        func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &generator) < percent }
        func end(_ told: Double) -> LedgerEnd {
            LedgerEnd(
                isOver: chance(50), until: Life.day(told + Double(Int.random(in: -9...30, using: &generator))),
                statedAt: Life.day(told))
        }
        return (0..<Int.random(in: 1...12, using: &generator)).map { _ in
            let told = Double(Int.random(in: 0...60, using: &generator))
            var statement = LedgerStatement()
            for _ in 0..<(chance(15) ? 2 : chance(70) ? 1 : 0) {
                let number = Int.random(in: 0...6, using: &generator)
                statement.periods.append(
                    Life.period(
                        "\(number)", from: Double(number * 10), until: Double(number * 10 + 10),
                        product: chance(70) ? "month" : "year", revoked: chance(15) ? .refunded : nil,
                        isUpgraded: chance(10), told: told))
            }
            if chance(50) {
                statement.renewal = Life.renewal(
                    chance(20) ? nil : chance(60), retry: chance(20), grace: chance(20) ? told + 6 : nil, told: told)
            }
            if chance(10) { statement.end = end(told) }
            if chance(20) { statement.cleeng[chance(70) ? "gold" : "silver"] = end(told) }
            if chance(10) { statement.granted = LedgerGrant(offer: chance(70) ? "gold" : "silver", at: Life.day(told)) }
            if chance(5) { statement.movesTo = LedgerMove(to: "9", statedAt: Life.day(told)) }
            if chance(5) { statement.movesFrom = ["7"] }
            return statement
        }
    }

    @Test(
        "in any order make one ledger; repeats send no notification; due times and ends of access are never in the past",
        arguments: 0..<20 as Range<UInt64>)
    func random(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for round in 0..<50 {
            let comment: Comment = "seed \(seed), round \(round)"
            let name = try #require(Self.names.randomElement(using: &generator))
            let day = Double(Int.random(in: 0...90, using: &generator)) + 0.02
            let statements = Self.statements(&generator)
            let asks = Bool.random(using: &generator)
            var history = LedgerHistory()
            if Bool.random(using: &generator) { history.own(name) }
            var shuffled = history
            for statement in statements {
                let one = history.record([LedgerMessage(name, statement)], at: Life.day(day), asks: asks)
                check(try #require(one.all.first), one, asks, comment)
            }
            for statement in statements.shuffled(using: &generator) {
                try shuffled.record(statement, on: name, day: day, asks: asks)
            }
            #expect(shuffled.found[name]?.ledger == history.found[name]?.ledger, comment)
            // The stored state stays: repeats, and time before the due time, change nothing.
            for statement in statements {
                let again = history.record([LedgerMessage(name, statement)], at: Life.day(day))
                let one = try #require(again.all.first)
                #expect(!one.notifiesPublisher && !one.isNoted, comment)
                #expect(one.message.statement.movesTo != nil || again.customerChanges(trace: nil).isEmpty, comment)
            }
            let next = try history.record(on: name, day: day)
            if let due = next.dueAt, next.access.questions.isEmpty, due > Life.day(day + 1) {
                let early = history.record([LedgerMessage(name)], at: due - .seconds(1))
                #expect(early.all.first?.hasNewStatus == false, comment)
            }
        }
    }

    private func check(_ one: LedgerChange, _ all: LedgerBatch, _ asks: Bool, _ comment: Comment) {
        let now = one.found.now
        if let due = one.dueAt {
            // An owner follows a move at once.
            #expect(due > now || one.ledger.movedTo != nil && due == now, comment)
            #expect(one.access.questions.isEmpty || due <= now + .seconds(asks ? 60 : 10), comment)
            #expect(!one.staysDue || !asks || one.isOnlyLinked, comment)
        } else {
            #expect(one.access.questions.isEmpty && one.recheckAt == nil || one.ledger.movedTo != nil, comment)
            // An active subscription without a statement about its renewal must be due, unless it has no end.
            let runs = one.state?.status == .active && !one.hasRenewalInfo
            #expect(!runs || one.ledger.movedTo != nil, comment)
        }
        for change in all.accessChanges {
            #expect(change.owner == one.found.owner?.customer, comment)
            if case .goesOn(let end?) = change.verdict { #expect(end > now, comment) }
        }
        if one.message.name.standsAlone { #expect(all.customerChanges(trace: nil).isEmpty, comment) }
        let newRevocations = LedgerView(one).newRevocations
        #expect(newRevocations <= one.message.statement.periods.count, comment)
    }
}
