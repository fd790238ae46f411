import Testing

@testable import RelayCore

@Suite("A subscription that moves to a new id")
struct LedgerMoveTests {
    private let old = LedgerHistory.name("1")
    private let new = LedgerHistory.name("2")
    private let ben = LedgerView.Owner(customer: "ben@example.test", email: "ben@example.test", offerID: "gold")

    private func move(_ history: inout LedgerHistory, asks: Bool = false) -> LedgerBatch {
        var statement = LedgerStatement(periods: [Life.period("2", from: 30)], renewal: Life.renewal(true, told: 30))
        (statement.movesFrom, statement.isCurrentAt) = (["1"], Life.day(30))
        let message = LedgerMessage(new, statement, note: .init(event: "did_renew"))
        return history.record(message.withMoves, at: Life.day(30), asks: asks)
    }

    @Test("takes its owner, grants and customer along; its old id is never due")
    func owner() throws {
        var history = LedgerHistory()
        history.own()
        try history.record(.month(), day: 0)
        let moved = move(&history)
        #expect(moved.ownerMoves.map(\.from) == [old] && moved.ownerMoves.map(\.to) == [new])
        #expect(moved.transfers.isEmpty)
        #expect(moved.all.map(\.dueAt) == [Life.day(60), nil])
        #expect(move(&history, asks: true).all[1].dueAt == nil)
        #expect(moved.all[0].granted == ["gold"] && moved.all[0].ledger.granted?.offer == "gold")
        let changes = CustomerChange.merged(moved.customerChanges(trace: "t")).map(\.change)
        #expect(changes.map(\.customer.username) == ["ana"])
        #expect(changes.map(\.reason) == [.other] && changes.map(\.trace) == ["t"])
        let access = moved.accessChanges
        #expect(access.map(\.name) == [new, old] && access.allSatisfy { $0.owner == LedgerHistory.owner.customer })
        #expect(access.allSatisfy { $0.verdict == .goesOn(expiresAt: Life.day(60)) && $0.detail == "did_renew" })
    }

    @Test("to a customer's id takes nothing from that customer; the old id's owner ends by a transfer")
    func transfer() throws {
        var history = LedgerHistory()
        history.own()
        history.own(new, by: ben, username: "ben", id: .numbered(2))
        let moved = move(&history)
        #expect(
            moved.transfers == [
                .init(
                    subscription: new, to: .numbered(2), toCustomer: ben.customer, from: .numbered(1),
                    fromCustomer: LedgerHistory.owner.customer)
            ])
        #expect(moved.ownerMoves.isEmpty)
        #expect(Set(moved.accessChanges.map(\.owner)) == [ben.customer])
        history.own(new, by: LedgerHistory.owner)
        #expect(move(&history).transfers.isEmpty)
    }

    @Test("takes nothing from a customer who was granted the old id after the new id's owner")
    func later() throws {
        for (before, after, isTransferred) in [(20.0, nil, false), (20, 10, false), (20, 25, true), (20, 20, true)]
            as [(Double, Double?, Bool)]
        {
            var history = LedgerHistory()
            history.own()
            history.own(new, by: ben, username: "ben", id: .numbered(2))
            for (name, day) in [(old, before), (new, after)] {
                guard let day else { continue }
                let grant = LedgerGrant(offer: "gold", at: Life.day(day))
                history.found[name]?.ledger.apply(LedgerStatement(granted: grant))
            }
            #expect(move(&history).transfers.isEmpty == !isTransferred, "\(before) \(after as Double?)")
        }
    }

    @Test("is lost by a customer who had claimed the new id by name alone, if the old id was granted")
    func claimed() throws {
        for isGranted in [true, false] {
            var history = LedgerHistory()
            history.own()
            if !isGranted { history.found[old]?.owner = nil }
            history.found[new] = .init()
            history.found[new]?.username = "ben"
            let changes = move(&history).customerChanges(trace: nil)
            let lost = changes.filter { $0.customer.username == "ben" && $0.reason == .other }
            #expect(lost.count == (isGranted ? 1 : 0) + 1, "its own noted statement notifies too")
        }
    }

    @Test("passes on ids that had moved to its former one")
    func chain() throws {
        var history = LedgerHistory()
        try history.record(LedgerStatement(movesFrom: ["0", "2"]), day: 0)
        #expect(move(&history).all[0].ledger.movedFrom == ["0", "1"])
    }

    @Test("is not brought back by a later answer about the replaced id, which names the id before it")
    func replacedTwice() throws {
        func answer(_ key: TransactionID, from former: TransactionID?, _ day: Double, isOver: Bool = false)
            -> [LedgerMessage]
        {
            var statement = LedgerStatement(
                periods: [Life.period(key.text, from: 0, until: isOver ? day : 60, told: day)],
                renewal: Life.renewal(!isOver, told: day),
                end: LedgerEnd(isOver: isOver, until: isOver ? nil : Life.day(60), statedAt: Life.day(day)))
            if let former { (statement.movesFrom, statement.movedAt) = ([former], Life.day(day)) }
            return LedgerMessage(LedgerHistory.name(key), statement, note: .init(event: "asked")).withMoves
        }
        var history = LedgerHistory()
        history.own()
        history.record(answer("1", from: nil, 0), at: Life.day(0))
        history.record(answer("2", from: "1", 1), at: Life.day(1))
        history.own(new)
        history.record(answer("3", from: "2", 2), at: Life.day(2))
        let late = history.record(answer("2", from: "1", 3, isOver: true), at: Life.day(3))
        #expect(late.all.map(\.ledger.movedTo) == ["3", "2"])
        #expect(late.all.map(\.dueAt) == [nil, nil])
        #expect(late.accessChanges.isEmpty)
        #expect(late.customerChanges(trace: nil).isEmpty)
    }

    @Test("An answer about a former owner, with its note, is discarded")
    func condition() throws {
        let over = LedgerStatement(cleeng: ["gold": LedgerEnd(isOver: true, statedAt: Life.day(2))])
        for (customer, holds) in [(LedgerHistory.owner.customer, true), (ben.customer, false), (nil, false)]
            as [(CustomerID?, Bool)]
        {
            var history = LedgerHistory()
            history.own()
            let batch = history.record(
                [LedgerMessage(old, over, condition: .whileOwned(by: customer), note: .init(event: "asked"))],
                at: Life.day(2))
            #expect(batch.all[0].message.note?.event == (holds ? "asked" : nil))
            #expect(batch.all[0].ledger.cleeng["gold"]?.isOver == (holds ? true : nil))
            #expect(batch.all[0].ledger.cleeng["gold"]?.ownerNo == (holds ? 1 : nil))
        }
    }

    @Test("An end covers the periods that are known by now, and none that is stated later")
    func boundedEnd() throws {
        for isOver in [true, false] {
            var history = LedgerHistory()
            try history.record(.month(), day: 0)
            let end = LedgerEnd(isOver: isOver, statedAt: Life.day(40))
            let updated = try history.record(LedgerStatement(end: end, cleeng: ["gold": end]), day: 40)
            #expect(updated.ledger.end?.until == (isOver ? Life.day(30) : nil))
            #expect(updated.ledger.cleeng["gold"]?.until == (isOver ? Life.day(30) : nil))
        }
    }

    @Test("The owner's row gets the offer of the present product; only an owner has access to change")
    func presentOffer() throws {
        var history = LedgerHistory()
        try history.record(.month(product: "year"), day: 0)
        let unowned = history.record([LedgerMessage(old)], at: Life.day(1))
        #expect(unowned.presentOffers.isEmpty && unowned.accessChanges.isEmpty)
        history.own()
        let changed = history.record([LedgerMessage(old)], at: Life.day(1))
        #expect(changed.presentOffers.map(\.offer) == ["silver"])
        history.found[old]?.owner?.offerID = "silver"
        let same = history.record([LedgerMessage(old)], at: Life.day(1))
        #expect(same.presentOffers.isEmpty)
        #expect(same.accessChanges.first { $0.offer == "silver" }?.detail == "as the store has it")
        let ended = history.record(
            [LedgerMessage(old, .month(product: "year", revoked: .refunded, told: 2))], at: Life.day(2))
        let access = try #require(ended.accessChanges.first { $0.offer == "silver" })
        #expect(access.verdict == .ends(reason: "refunded") && access.detail == "refunded: its time is over")
    }
}
