import Testing

@testable import RelayCore

/// Two products of one subscription whose statements are each about one transaction, as Apple's are.
@Suite("Items that are sold together")
struct ItemPeriodTests {
    private func statement(
        _ week: Int, told: Double, revoked: Set<String> = [], renews: Bool? = true
    ) -> LedgerStatement {
        LedgerStatement(
            periods: ["kids", "sports"].map {
                Life.period(
                    "\(week):\($0)", from: Double(week) * 30, product: $0,
                    revoked: revoked.contains($0) ? .refunded : nil,
                    told: told)
            }, renewal: renews.map { Life.renewal($0, told: told) })
    }

    /// Bought and renewed; Cleeng granted both.
    private func history() throws -> LedgerHistory {
        var history = LedgerHistory()
        history.catalogue = ["sports": ["gold"], "kids": ["silver"]]
        history.own()
        history.found[LedgerHistory.name]?.granted = ["gold", "silver"]
        try history.record(statement(0, told: 0), day: 0)
        return history
    }

    private func verdicts(_ updated: LedgerChange) -> [AccessVerdict?] {
        ["gold", "silver"].map { updated.access.verdicts[$0] }
    }

    @Test("run on after a refund of an earlier period, or an old transaction that was signed again")
    func earlier() throws {
        var history = try history()
        try history.record(statement(1, told: 30), day: 30)
        let both = [AccessVerdict?](repeating: .goesOn(expiresAt: Life.day(60)), count: 2)
        for (old, day) in [
            (statement(0, told: 40, revoked: ["kids", "sports"]), 40), (statement(0, told: 45), 45),
            (statement(0, told: 50, renews: nil), 50),
        ] as [(LedgerStatement, Double)] {
            #expect(verdicts(try history.record(old, day: day)) == both, "\(day)")
        }
        let refunded = try history.record(statement(1, told: 55, revoked: ["kids"]), day: 55)
        #expect(verdicts(refunded) == [.goesOn(expiresAt: Life.day(60)), .ends(reason: "refunded")])
    }

    @Test("wait for a late renewal although another of them was refunded", arguments: ["kids", "sports"])
    func refund(of product: String) throws {
        var history = try history()
        try history.record(statement(0, told: 10, revoked: [product]), day: 10)
        let late = verdicts(try history.record(day: 30.01))
        let (refunded, other) = product == "sports" ? (late[0], late[1]) : (late[1], late[0])
        #expect(refunded == .ends(reason: "refunded"))
        guard case .goesOn = other else {
            Issue.record("\(String(describing: other))")
            return
        }
    }
}
