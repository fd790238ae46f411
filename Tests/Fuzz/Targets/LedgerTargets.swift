import Foundation
import RelayCore

extension FuzzTarget {
    /// JSON in the database, which another version or an operator may have written.
    static let ledgers = FuzzTarget("ledgers", seeds: LedgerSeeds.all) { bytes in
        let data = Data(bytes)
        if let ledger = try? JSONDecoder().decode(SubscriptionLedger.self, from: data) {
            FuzzLedger.tell(ledger)
            _ = try? JSONEncoder().encode(ledger)
        }
        FuzzLedger.apply(try? JSONDecoder().decode(LedgerStatement.self, from: data))
        for moment in (try? JSONDecoder().decode([Timestamp].self, from: data)) ?? [] {
            _ = (moment + .seconds(1), moment - .seconds(1), moment.rfc3339, moment.sevenDecimals)
        }
    }
}

private enum LedgerSeeds {
    static var all: [[UInt8]] {
        let begin = FuzzLedger.now - .seconds(86_400)
        let period = LedgerPeriod(
            id: "1", productID: "month", purchasedAt: begin, expiresAt: FuzzLedger.now, revocation: nil,
            statedAt: begin,
            transactionID: "1", originalPurchasedAt: begin, isTrial: true, isIntro: nil, discountID: nil)
        let word = LedgerStatement(
            periods: [period], end: LedgerEnd(isOver: false, until: FuzzLedger.now, statedAt: begin), movesFrom: ["0"],
            intentChangedAt: begin)
        var ledger = SubscriptionLedger()
        ledger.apply(word)
        return [json(ledger), json(word), Array("[0,1767323045000000,-9223372036854775808]".utf8)]
    }

    private static func json(_ value: some Encodable) -> [UInt8] {
        ((try? JSONEncoder().encode(value)).map { Array($0) }) ?? []
    }
}
