import RelayCore
import TestSupport
import Testing

@testable import Billing
@testable import RelayCore

@Suite("An update of a contract's ledger")
struct ContractEventTests {
    /// A statement on a day after a month that renews, and the expected events.
    struct Case: Sendable {
        var statement = LedgerStatement()
        var day: Double
        var events: [BillingEvent] = []
    }

    @Test(
        "has an event for each change of the contract, once",
        arguments: [
            Case(day: 2),
            Case(statement: .month(), day: 2),
            Case(
                statement: LedgerStatement(
                    periods: [Life.period("2", from: 30)], renewal: Life.renewal(true, told: 30)),
                day: 30, events: [.contractChanged]),
            Case(
                statement: LedgerStatement(
                    periods: [Life.period("2", from: 30)], renewal: Life.renewal(false, told: 30)), day: 30,
                events: [.contractChanged, .contractCancelled]),
            Case(statement: .month(renews: false, told: 2), day: 2, events: [.contractCancelled]),
            Case(statement: .month(revoked: .refunded, told: 2), day: 2, events: [.contractChanged]),
            Case(statement: .month(revoked: .familyRevoked, told: 2), day: 2, events: [.contractChanged]),
            // Access continues in the grace period.
            Case(
                statement: LedgerStatement(renewal: Life.renewal(true, retry: true, grace: 46, told: 30)), day: 31),
            Case(
                statement: LedgerStatement(renewal: Life.renewal(true, retry: true, told: 30)), day: 31,
                events: [.contractChanged]),
            Case(statement: .over(statedAt: Life.day(2)), day: 2, events: [.contractChanged]),
            // The renewal is unreported: nothing is published before an answer.
            Case(day: 31),
            Case(
                statement: LedgerStatement(cleeng: ["gold": LedgerEnd(isOver: true, statedAt: Life.day(31))]), day: 31,
                events: [.contractChanged]),
        ])
    func events(one: Case) throws {
        var history = LedgerHistory()
        history.own()
        #expect(try history.record(.month(), day: 1).contractEvents.isEmpty, "it was never published")
        #expect(try history.record(one.statement, day: one.day).contractEvents == one.events)
        #expect(try history.record(one.statement, day: one.day).contractEvents.isEmpty)
    }

    @Test("that turns the renewal on again, but none that only asks for a price")
    func renewals() throws {
        var history = LedgerHistory()
        try history.record(.month(renews: false), day: 0)
        #expect(try history.record(.month(renews: true, told: 1), day: 1).contractEvents == [.contractChanged])
        for consent in [0, 1] {
            var renewal = Life.renewal(true, told: Double(2 + consent))
            renewal.priceConsent = consent
            let asked = try history.record(LedgerStatement(renewal: renewal), day: Double(2 + consent))
            #expect(asked.contractEvents.isEmpty)
        }
    }

    @Test("has none while the subscription was never published", arguments: [true, false])
    func first(renews: Bool) throws {
        var history = LedgerHistory()
        #expect(try history.record(.month(renews: renews), day: 0).contractEvents.isEmpty)
    }

    @Test("has none where a statement comes again, in any order", arguments: 0..<20 as Range<UInt64>)
    func repeats(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var changes = 0
        for _ in 0..<50 {
            var history = LedgerHistory()
            if Bool.random(using: &generator) { history.own() }
            var statements: [LedgerStatement] = []
            for told in 0..<Int.random(in: 1...6, using: &generator) {
                let renews = Bool.random(using: &generator)
                statements += [
                    .month(renews: renews, told: Double(told)),
                    .month(revoked: .refunded, told: Double(told)),
                    .over(statedAt: Life.day(Double(told))),
                    LedgerStatement(
                        periods: [Life.period("2", from: 30)], renewal: Life.renewal(renews, told: Double(told))),
                    LedgerStatement(renewal: Life.renewal(true, retry: true, grace: 46, told: Double(told))),
                ].shuffled(using: &generator).prefix(1)
            }
            let day = Double(Int.random(in: 6...60, using: &generator))
            for statement in statements {
                changes += try history.record(statement, day: day).contractEvents.count
            }
            for statement in statements.shuffled(using: &generator) {
                #expect(try history.record(statement, day: day).contractEvents.isEmpty, "seed \(seed)")
            }
        }
        #expect(changes > 0)
    }

    @Test("continues it under a new id of the subscription that has none of its own, and without an event")
    func moves() throws {
        var history = LedgerHistory()
        history.own()
        try history.record(.month(), day: 0)
        let (old, new) = (LedgerHistory.name("1"), LedgerHistory.name("2"))
        var statement = LedgerStatement(periods: [Life.period("2", from: 30)], renewal: Life.renewal(true, told: 30))
        (statement.movesFrom, statement.isCurrentAt) = (["1"], Life.day(30))
        let moved = history.record(LedgerMessage(new, statement).withMoves, at: Life.day(30))
        let moves = moved.contractMoves(of: [old])
        #expect(moves.map(\.from) == [old] && moves.map(\.to) == [new])
        #expect(moved.contractMoves(of: [old, new]).isEmpty && moved.contractMoves(of: [new]).isEmpty)
        #expect(moved.all.first { $0.message.name == old }?.contractEvents.isEmpty == true)
    }

    @Test("goes to the endpoints that ask for its event and environment")
    func endpoints() {
        var generator = SystemRandomNumberGenerator()
        let id = EndpointID(using: &generator)
        typealias Endpoint = NotifiedContract.Endpoint
        for (asked, environment, takes) in [
            (.all, "Sandbox", true), (.all, "unknown", true), (.production, "Production", true),
            (.production, "Sandbox", false), (.sandbox, "Sandbox", true), (.sandbox, "Production", false),
        ] as [(WebhookEnvironment, StoreEnvironment, Bool)] {
            #expect(Endpoint(id: id, events: [], environment: asked).takes(environment) == takes)
        }
        let endpoint = Endpoint(id: id, events: ["ContractChanged", "X"], environment: .all)
        #expect(BillingEvent.allCases.filter(endpoint.wants) == [.contractChanged])
    }
}
