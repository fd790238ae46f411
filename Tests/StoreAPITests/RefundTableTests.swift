import StoreAPI
import Testing

@testable import RelayCore

/// Google, Amazon and Roku call a refunded subscription expired. Only their notifications call it refunded.
@Suite("A refund that a notification reports")
struct RefundTableTests {
    private static let day = Duration.seconds(86_400)
    private static let asked = Timestamp(seconds: 1_700_000_000)
    private static let name = SubscriptionName(
        publisher: "main", environment: "Production", originalTransactionID: "google:t")

    /// A store's answer that many days after the first one, with the refunds that its question carries.
    private func answer(
        _ day: Double, _ state: StoreState, order: TransactionID, until: Double, _ refunds: LedgerRefund...
    ) throws -> LedgerStatement {
        var item = StoreSubscription.Item(productID: "month")
        (item.orderID, item.expiresAt, item.autoRenews) = (order, Self.moment(until), state == .active)
        var one = StoreSubscription(
            .google, .subscription, key: "t", items: [item], state: state, isTest: false, readAt: Self.moment(day))
        one.firstPurchasedAt = Self.asked - Self.day * 30
        return try #require(one.ledgerStatement).refunding(refunds)
    }

    private static func moment(_ day: Double) -> Timestamp { asked + .seconds(Int64(day * 86_400)) }

    private func refund(_ day: Double, of order: TransactionID?, _ reason: CancelationReason? = nil) -> LedgerRefund {
        LedgerRefund(order: order, at: Self.moment(day), reason: reason)
    }

    /// In every order of arrival.
    private func state(after statements: [LedgerStatement], at day: Double) throws -> SubscriptionState {
        var states: Set<SubscriptionState> = []
        for order in permutations(statements) {
            var ledger = SubscriptionLedger()
            for statement in order { ledger.apply(statement) }
            states.insert(try #require(ledger.state(at: Self.moment(day), leeway: .seconds(3_600))))
        }
        #expect(states.count == 1, "\(states)")
        return try #require(states.first)
    }

    private func permutations<T>(_ all: [T]) -> [[T]] {
        guard let first = all.first else { return [[]] }
        return permutations(Array(all.dropFirst())).flatMap { rest in
            (0...rest.count).map { Array(rest[..<$0]) + [first] + Array(rest[$0...]) }
        }
    }

    @Test("takes back an order that the store calls expired", arguments: ["1", nil] as [TransactionID?])
    func expired(order: TransactionID?) throws {
        let bought = try answer(0, .active, order: "1", until: 30)
        let over = try answer(5, .expired, order: "1", until: 5, refund(4.9, of: order, .technicalIssues))
        let shown = try state(after: [bought, over], at: 6)
        #expect(shown.status == .revoked && shown.reason == "refunded")
        #expect(shown.access == .ends(reason: "refunded"))
        // Also if the store is asked again for another reason.
        #expect(try state(after: [bought, over, answer(6, .expired, order: "1", until: 5)], at: 7) == shown)
        var ledger = SubscriptionLedger()
        for one in [bought, over] { ledger.apply(one) }
        #expect(ledger.periods["1"]?.revocation?.reason == .technicalIssues)
    }

    @Test("prevents a grant, though Cleeng says yes after it")
    func known() throws {
        var ledger = SubscriptionLedger()
        for one in try [
            answer(0, .active, order: "1", until: 30), answer(5, .expired, order: "1", until: 5, refund(4.9, of: "1")),
        ] { ledger.apply(one) }
        func reasonToEnd(_ ledger: SubscriptionLedger) -> String? {
            let now = Self.moment(6)
            var found = LedgerChange.Found()
            (found.ledger, found.now) = (ledger, now)
            let grant = Ownership.Grant(
                id: ValidationID(bucket: Bucket(number: 1), day: 20_000, high: 0, low: 1), name: Self.name,
                customer: "ana@example.test", email: "ana@example.test", username: "ana", offerID: "gold",
                acceptedAt: now, deadline: now, change: .init(status: .granted, at: now, observedAt: now),
                entitledBefore: nil)
            return LedgerChange(
                grant, found: found, terms: .init(leeway: .seconds(3_600)), offers: { _, _ in ["month": ["gold"]] }
            ).reasonToEnd("gold")
        }
        #expect(reasonToEnd(ledger) == "refunded")
        // The store itself says that it runs again.
        ledger.apply(try answer(5.5, .active, order: "1", until: 30))
        #expect(reasonToEnd(ledger) == nil)
    }

    @Test("ends nothing while the store says that the order runs, and nothing of a later order")
    func runs() throws {
        let bought = try answer(0, .active, order: "1", until: 30)
        let paidBack = try answer(5, .active, order: "1", until: 30, refund(4.9, of: "1"))
        #expect(try state(after: [bought, paidBack], at: 6).status == .active)
        // The next payment failed, and the store lets the customer go on for a while.
        let grace = try answer(31, .inGrace, order: "1", until: 36)
        #expect(try state(after: [bought, paidBack, grace], at: 32).status == .inGrace)
        let over = try answer(5, .expired, order: "1", until: 5, refund(4.9, of: "1"))
        let again = try answer(40, .active, order: "2", until: 70)
        #expect(try state(after: [bought, over, again], at: 41).status == .active)
        let ended = try answer(71, .expired, order: "2", until: 70)
        #expect(try state(after: [bought, over, again, ended], at: 72).status == .expired)
    }

    @Test("of the renewal leaves the order before it, which the store names again")
    func ofTheRenewal() throws {
        let renewed = try answer(0, .active, order: "2", until: 60)
        let back = try answer(5, .active, order: "1", until: 30, refund(4.9, of: "2"))
        let shown = try state(after: [renewed, back], at: 6)
        #expect(shown.status == .active && shown.expiresAt == Self.moment(30))
        let over = try answer(31, .expired, order: "1", until: 30)
        #expect(try !state(after: [renewed, back, over], at: 32).status.grantsAccess)
    }
}
