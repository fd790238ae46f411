import TestSupport
import Testing

@testable import RelayCore

/// A purchase that its store continues under one new id after another, as Google does with each change of plan.
@Suite("A subscription that changes its id several times")
struct LedgerChainTests {
    /// The relay's parts that follow a move: what a notification makes of the store's answer, and what the ledger
    /// service makes of what is due. Each id's answer names the id before it, and only the last id runs.
    private struct Chain {
        let last: Int
        var history = LedgerHistory()
        var due: [SubscriptionName: Timestamp] = [:]
        var now = Life.day(10)
        /// Status of the validation under the first id.
        var isGranted = true
        var acknowledged: Set<Int> = []
        private var questions: [Int] = []

        init(last: Int) {
            self.last = last
            history.own(Self.name(0))
            record([message(0, isLast: true)], asks: false)
        }

        static func name(_ number: Int) -> SubscriptionName { LedgerHistory.name(TransactionID("google:\(number)")) }

        private func message(_ number: Int, isLast: Bool? = nil) -> LedgerMessage {
            let runs = isLast ?? (number == last)
            let end = runs ? 40.0 : Double(number) + 1
            return LedgerMessage(
                Self.name(number),
                LedgerStatement(
                    periods: [
                        LedgerPeriod(
                            id: TransactionID("\(number)"), productID: "month", purchasedAt: Life.day(0),
                            expiresAt: Life.day(end), statedAt: now)
                    ],
                    renewal: LedgerRenewal(willRenew: runs, productID: "month", statedAt: now),
                    end: LedgerEnd(isOver: !runs, statedAt: now),
                    movesFrom: number == 0 ? [] : [Self.name(number - 1).originalTransactionID],
                    movedAt: number == 0 ? nil : now))
        }

        @discardableResult
        private mutating func record(_ messages: [LedgerMessage], asks: Bool) -> [LedgerView] {
            var names: Set<SubscriptionName> = []
            let messages = messages.filter { names.insert($0.name).inserted }
            for name in names {
                // The offer is granted under the first id.
                let former = history.found[name]?.ledger.movedFrom ?? []
                let isGranted = name == Self.name(0) || former.contains(Self.name(0).originalTransactionID)
                history.found[name, default: .init()].granted = isGranted ? ["gold"] : []
            }
            let batch = history.record(messages, at: now, asks: asks)
            for (from, to) in batch.ownerMoves where history.found[to]?.owner == nil {
                guard let former = history.found[from], let owner = former.owner else { continue }
                history.own(to, by: owner)
            }
            for one in batch.all {
                let name = one.message.name
                due[name] = one.staysDue ? [due[name], one.dueAt].compactMap(\.self).min() : one.dueAt
            }
            for change in batch.accessChanges where change.name == Self.name(0) && change.offer == "gold" {
                if case .goesOn = change.verdict { isGranted = true } else { isGranted = false }
            }
            questions += batch.newlyOwned.compactMap { number($0.message.name) }
            return batch.all.map { LedgerView($0) }
        }

        private func number(_ name: SubscriptionName) -> Int? { (0...last).first { Self.name($0) == name } }

        /// A notification names an id: the store is asked about it.
        mutating func hear(of number: Int) {
            questions.append(number)
            while !questions.isEmpty {
                let number = questions.removeFirst()
                let results = record(message(number).withMoves, asks: false)
                guard results.contains(where: { $0.owner != nil || !$0.granted.isEmpty }),
                    results.first(where: { $0.name == Self.name(number) })?.state?.status.grantsAccess == true
                else { continue }
                acknowledged.insert(number)
            }
        }

        /// - Parameter dies: whether the process dies after its first transaction.
        mutating func look(dies: Bool = false) {
            let names = due.filter { $0.value <= now }.keys.sorted {
                $0.originalTransactionID < $1.originalTransactionID
            }
            guard !names.isEmpty else { return }
            for name in names { due[name] = now + .seconds(60) }
            var results = record(names.map { LedgerMessage($0) }, asks: true)
            guard !dies else { return }
            results += follow(results)
            for one in results where one.isOnlyLinked {
                guard let number = number(one.name) else { continue }
                follow(record(message(number).withMoves, asks: true))
            }
            let open = questions
            questions = []
            for number in open { hear(of: number) }
        }

        @discardableResult
        private mutating func follow(_ former: [LedgerView]) -> [LedgerView] {
            var (former, found) = (former, [LedgerView]())
            for _ in 0..<SubscriptionLedger.mostPredecessors {
                let messages = LedgerMessage.following(former)
                guard !messages.isEmpty else { break }
                let names = Set(former.compactMap(\.presentName))
                former = record(messages, asks: true).filter { names.contains($0.name) }
                found += former
            }
            return found
        }
    }

    @Test(
        "keeps owner, acknowledgement and access, whatever is heard of the ids between",
        arguments: 0..<20 as Range<UInt64>)
    func anyOrder(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for round in 0..<100 {
            var chain = Chain(last: Int.random(in: 1...6, using: &generator))
            var words = (0..<chain.last).filter { _ in Bool.random(using: &generator) } + [chain.last]
            words = (words + words.filter { _ in Bool.random(using: &generator) }).shuffled(using: &generator)
            let comment: Comment = "seed \(seed), round \(round): \(words)"
            for word in words {
                chain.hear(of: word)
                while Bool.random(using: &generator) {
                    chain.now = chain.now + .seconds(1)
                    chain.look(dies: Int.random(in: 0..<5, using: &generator) == 0)
                }
            }
            for _ in 0..<20 {
                chain.now = chain.now + .seconds(61)
                chain.look()
            }
            let last = try #require(chain.history.found[Chain.name(chain.last)], comment)
            #expect(last.owner == LedgerHistory.owner, comment)
            #expect(last.ledger.movedFrom.count == chain.last, comment)
            let isGranted = chain.isGranted
            #expect(isGranted, comment)
            #expect(chain.acknowledged.contains(chain.last), comment)
            for (name, moment) in chain.due where name != Chain.name(chain.last) {
                Issue.record("\(name) is due at \(moment) still. \(comment)")
            }
        }
    }
}
