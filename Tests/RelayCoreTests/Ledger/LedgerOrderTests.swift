import TestSupport
import Testing

@testable import RelayCore

/// Apple guarantees neither the order of messages nor that each arrives once.
@Suite("Statements in any order and with repeats make the same ledger")
struct LedgerOrderTests {
    /// A random life with all kinds of statements, some at the same time.
    private static func words(_ generator: inout SeededGenerator) -> [LedgerStatement] {
        var words: [LedgerStatement] = []
        func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &generator) < percent }
        for _ in 0..<Int.random(in: 1...300, using: &generator) {
            let told = Double(Int.random(in: 0...400, using: &generator))
            var word = LedgerStatement()
            if chance(80) {
                // A transaction has the same start in all statements.
                let number = Int.random(in: 0..<130, using: &generator)
                word.periods.append(
                    Life.period(
                        "\(number)", from: Double(number * 5), product: chance(50) ? "a" : "b",
                        revoked: chance(20) ? (chance(50) ? .refunded : .familyRevoked) : nil, isUpgraded: chance(10),
                        replaces: chance(5), told: told))
            }
            if chance(50) {
                word.renewal = Life.renewal(
                    chance(50) ? nil : chance(50), product: chance(50) ? "a" : "b", retry: chance(30),
                    grace: chance(20) ? told + 16 : nil, intent: chance(20) ? 1 : nil, told: told)
            }
            if chance(20) { word.end = LedgerEnd(isOver: chance(60), statedAt: Life.day(told)) }
            if chance(3) {
                word.movesTo = LedgerMove(
                    to: "\(Int.random(in: 0..<5, using: &generator))",
                    statedAt: Life.day(Double.random(in: 0..<100, using: &generator)))
            }
            if chance(3) { word.isCurrentAt = Life.day(Double.random(in: 0..<100, using: &generator)) }
            if chance(3) { word.movesFrom = ["\(Int.random(in: 0..<30, using: &generator))"] }
            words.append(word)
        }
        return words
    }

    @Test(arguments: 0..<300 as Range<UInt64>) func sameLedger(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let words = Self.words(&generator)
        var inOrder = SubscriptionLedger()
        for word in words { inOrder.apply(word) }
        for _ in 0..<5 {
            var shuffled = words.shuffled(using: &generator)
            shuffled += (0..<20).compactMap { _ in words.randomElement(using: &generator) }
            var other = SubscriptionLedger()
            for word in shuffled { other.apply(word) }
            #expect(other == inOrder, "seed \(seed)")
        }
        for day in stride(from: 0.5, to: 700, by: 13) {
            guard let state = inOrder.state(at: Life.day(day), leeway: Life.leeway) else { continue }
            // A predicted change happens when its time comes, and not earlier.
            if let change = state.changesAt {
                #expect(change > Life.day(day), "seed \(seed), day \(day)")
                let before = inOrder.state(
                    at: Timestamp(microseconds: change.microseconds - 1), leeway: Life.leeway)
                #expect(before?.status == state.status, "seed \(seed), day \(day)")
            } else {
                let after = inOrder.state(at: Life.day(99_999), leeway: Life.leeway)
                #expect(after?.status == state.status, "seed \(seed), day \(day): \(state)")
            }
        }
    }
}
