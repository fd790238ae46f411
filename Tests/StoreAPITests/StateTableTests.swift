import RelayCore
import StoreAPI
import Testing

/// What each answer of a store other than Apple makes of a subscription.
@Suite("A store's state")
struct StateTableTests {
    struct Line: Sendable, CustomTestStringConvertible {
        var state: StoreState
        /// Whether the stated end is past.
        var isPast: Bool
        var renews: Bool?
        /// By the ledger, a moment after the answer.
        var status: SubscriptionState.Status
        /// Whether access ends then; nil: the relay asks before it ends.
        var ends: Bool?

        init(_ state: StoreState, past isPast: Bool, renews: Bool?, _ status: SubscriptionState.Status, ends: Bool?) {
            (self.state, self.isPast, self.renews, self.status, self.ends) = (state, isPast, renews, status, ends)
        }

        var testDescription: String { "\(state) past: \(isPast) renews: \(renews.map(String.init) ?? "not stated")" }
    }

    static let lines: [Line] =
        [true, false, nil].flatMap { renews -> [Line] in
            [
                Line(.active, past: false, renews: renews, .active, ends: false),
                Line(.active, past: true, renews: renews, renews == false ? .expired : .active, ends: renews == false),
                Line(.unknown, past: false, renews: renews, .active, ends: false),
                Line(.unknown, past: true, renews: renews, renews == false ? .expired : .active, ends: renews == false),
                Line(.canceled, past: false, renews: renews, .active, ends: false),
                Line(.canceled, past: true, renews: renews, .expired, ends: true),
                Line(.inGrace, past: false, renews: renews, .inGrace, ends: false),
                Line(.inGrace, past: true, renews: renews, .inBillingRetry, ends: true),
            ]
                + [true, false].flatMap { isPast in
                    [
                        Line(.onHold, past: isPast, renews: renews, .inBillingRetry, ends: true),
                        Line(.paused, past: isPast, renews: renews, .expired, ends: true),
                        Line(.expired, past: isPast, renews: renews, .expired, ends: true),
                        Line(.revoked, past: isPast, renews: renews, .revoked, ends: true),
                    ]
                }
        }

    private static let day = Duration.seconds(86_400)
    private static let asked = Timestamp(seconds: 1_700_000_000)

    private func answer(
        _ store: StorePlatform, _ state: StoreState, order: TransactionID, until: Timestamp, renews: Bool?,
        at moment: Timestamp
    ) throws -> LedgerStatement {
        var item = StoreSubscription.Item(productID: "month")
        (item.orderID, item.expiresAt, item.autoRenews) = (order, until, renews)
        var one = StoreSubscription(
            store, .subscription, key: "key", items: [item], state: state, isTest: false, readAt: moment)
        one.firstPurchasedAt = Self.asked - Self.day * 90
        return try #require(one.ledgerStatement)
    }

    /// The order of the renewal was voided, and the store names the order before it again.
    @Test("is what counts, whatever it named before", arguments: lines, [StorePlatform.google, .amazon, .roku])
    func table(line: Line, store: StorePlatform) throws {
        for hasEarlierOrder in [false, true] {
            for isInOrder in [true, false] {
                var statements: [LedgerStatement] = []
                if hasEarlierOrder {
                    statements.append(
                        try answer(
                            store, .active, order: "2", until: Self.asked + Self.day * 60, renews: true,
                            at: Self.asked - Self.day))
                }
                let end = line.isPast ? Self.asked - .seconds(10) : Self.asked + Self.day * 30
                statements.append(
                    try answer(store, line.state, order: "1", until: end, renews: line.renews, at: Self.asked))
                var ledger = SubscriptionLedger()
                for statement in isInOrder ? statements : statements.reversed() { ledger.apply(statement) }
                let comment: Comment = "earlier order: \(hasEarlierOrder), in order: \(isInOrder)"
                let state = try #require(ledger.state(at: Self.asked + .seconds(1), leeway: .seconds(3_600)), comment)
                #expect(state.status == line.status, comment)
                switch state.access {
                case .goesOn(let until):
                    #expect(line.ends == false, comment)
                    #expect(until.map { $0 <= Self.asked + Self.day * 30 } ?? false, comment)
                case .ends: #expect(line.ends == true, comment)
                case nil: #expect(line.ends == nil, comment)
                }
            }
        }
    }
}
