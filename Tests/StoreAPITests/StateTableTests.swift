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

    /// The customer changed the plan: the successor has another key, which the relay may learn a moment later.
    @Test("that ends by a replacement ends a minute later, however often its store is asked")
    func replaced() throws {
        for reason in [CancelationReason.replaced, .system] {
            var ledger = SubscriptionLedger()
            ledger.apply(
                try answer(.google, .active, order: "1", until: Self.asked + Self.day, renews: true, at: Self.asked))
            for second in [60, 61, 100] as [Int64] {
                let moment = Self.asked + .seconds(second)
                var over = StoreSubscription(
                    .google, .subscription, key: "key", items: [item(until: moment)], state: .expired, isTest: false,
                    readAt: moment)
                over.cancellation = StoreCancellation(reason)
                ledger.apply(try #require(over.ledgerStatement))
            }
            let states = [60, 119, 120, 200].map { second in
                ledger.state(at: Self.asked + .seconds(Int64(second)), leeway: .seconds(3_600))
            }
            #expect(
                states.map { $0?.status }
                    == (reason == .replaced
                        ? [.active, .active, .expired, .expired] : Array(repeating: .expired, count: 4)))
            if reason == .replaced { #expect(states[0]?.nextLookAt == Self.asked + .seconds(120)) }
            // Cleeng's newer answer decides.
            var no = LedgerEnd(isOver: true, statedAt: Self.asked + .seconds(110))
            no.ownerNo = 1
            ledger.apply(
                LedgerStatement(cleeng: ["gold": no], granted: LedgerGrant(offer: "gold", at: Self.asked)))
            #expect(ledger.state(at: Self.asked + .seconds(111), leeway: .seconds(3_600))?.status == .expired)
        }
    }

    /// It was replaced in January, and its store is asked for the first time in June.
    @Test("that was replaced long ago is over")
    func replacedLongAgo() throws {
        var over = StoreSubscription(
            .google, .subscription, key: "key", items: [item(until: Self.asked - Self.day * 150)], state: .expired,
            isTest: false, readAt: Self.asked)
        over.cancellation = StoreCancellation(.replaced)
        var ledger = SubscriptionLedger()
        ledger.apply(try #require(over.ledgerStatement))
        #expect(ledger.state(at: Self.asked + .seconds(1), leeway: .seconds(3_600))?.status == .expired)
    }

    private func item(until end: Timestamp, order: TransactionID = "1") -> StoreSubscription.Item {
        var item = StoreSubscription.Item(productID: "month")
        (item.orderID, item.expiresAt) = (order, end)
        return item
    }

    /// Google sells the add-on in the same subscription. It was canceled, and the rest renews.
    @Test("has a renewal for each of its products")
    func items() throws {
        let end = Self.asked + Self.day
        var (main, addOn) = (item(until: end), item(until: end))
        (main.autoRenews, addOn.productID, addOn.autoRenews) = (true, "addon", false)
        var ledger = SubscriptionLedger()
        ledger.apply(
            try #require(
                StoreSubscription(
                    .google, .subscription, key: "key", items: [main, addOn], state: .active, isTest: false,
                    readAt: Self.asked
                ).ledgerStatement))
        let name = SubscriptionName(publisher: "main", environment: "Production", originalTransactionID: "google:key")
        let shown = ledger.purchases(of: name, shown: .active, at: Self.asked, leeway: .seconds(3_600))
        let intents = Dictionary(uniqueKeysWithValues: shown.map { ($0.productID, $0.renewalIntent) })
        #expect(intents == ["month": .renew, "addon": .lapse])
    }
}
