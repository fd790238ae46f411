import Postgres
import RelayCore
import Testing

@testable import Billing
@testable import Relay

/// A store continues a subscription under another number when its app moves to another bundle. It remains the same
/// subscription.
@Suite("A subscription under another number keeps its contract")
struct MovedContractTests {
    private static let (old, new) = ("1000000001", "2000000002")

    private static func move(_ billing: Billing, from old: String = old, to new: String = new) async throws {
        var notices = Notices(store: billing.store, database: billing.database)
        notices.key = new
        try await notices.come(
            "DID_RENEW", said: 1, period: "\(new)-2", ends: 172_800, environment: "Sandbox", movedFrom: old)
    }

    /// A check by the App Store's statement, which includes the previous number.
    private static func checkMoved(_ billing: Billing) async throws -> CheckedSubscription {
        let now = try await billing.database.now()
        let word = LedgerStatement(
            periods: [
                LedgerPeriod(
                    id: "moved", productID: "com.example.monthly", purchasedAt: now, expiresAt: now + .seconds(86_400),
                    statedAt: now)
            ], movesFrom: [TransactionID(old)], isCurrentAt: now)
        let checked = try await billing.record([
            ExternalSubscription(key: TransactionID(new), environment: "Sandbox", statement: word)
        ])
        return try #require(checked.first)
    }

    @Test("an old receipt names the present subscription, with its contract")
    func oldReceipt() async throws {
        try await Billing.run { billing in
            let contract = try await billing.contract(of: try await billing.check(Self.old).id)
            try await Self.move(billing)
            let fresh = try await billing.check(Self.new)
            let stale = try await billing.check(Self.old)
            #expect(stale == fresh && fresh.contract?.id == contract.id)
            #expect(try await billing.add(stale.id) == .conflict)
            // Later moves, one step after the other.
            try await Self.move(billing, from: Self.new, to: "3000000003")
            let last = try await billing.check("3000000003").id
            for key in [Self.old, Self.new] {
                let checked = try await billing.check(key)
                #expect(checked.contract?.id == contract.id, "\(key)")
                #expect(checked.id == last, "\(key)")
            }
            #expect(
                try await billing.store.orders.subscriptions(ofTransaction: TransactionID(Self.old), publisher: "main")
                    .count
                    == 1)
            #expect(try await billing.database.count("contracts") == 1)
        }
    }

    @Test("an order of the old number after the move makes one contract for both numbers")
    func orderedBeforeTheMove() async throws {
        try await Billing.run { billing in
            let old = try await billing.check(Self.old)
            let early = try await billing.order(old.id)
            try await Self.move(billing)
            let late = try await billing.order(try await billing.check(Self.new).id)
            guard case .contract(let contract) = try await billing.commit(early) else {
                Issue.record("no contract")
                return
            }
            #expect(contract.externalSubscriptions.count == 2 && contract.state.lifecycle == .active)
            #expect(try await billing.commit(late) == .conflict)
            #expect(try await billing.add(old.id) == .conflict)
            #expect(try await billing.check(Self.new).contract?.id == contract.id)
            #expect(try await billing.database.count("contracts") == 1)
        }
    }

    @Test("an order of the old number is refused after a contract for the new one")
    func newFirst() async throws {
        try await Billing.run { billing in
            let early = try await billing.order(try await billing.check(Self.old).id)
            try await Self.move(billing)
            let contract = try await billing.contract(of: try await billing.check(Self.new).id)
            #expect(try await billing.commit(early) == .conflict)
            #expect(try await billing.check(Self.old).contract?.id == contract.id)
            #expect(try await billing.database.count("contracts") == 1)
        }
    }

    /// Timeline: a contract exists for the old number. The publisher checks the new number before any notification has
    /// arrived. The App Store's statement names the old number.
    @Test("the store's statement of the previous number finds the existing contract")
    func toldWithTheCheck() async throws {
        try await Billing.run { billing in
            let contract = try await billing.contract(of: try await billing.check(Self.old).id)
            // Ordered before any statement said that both are the same subscription.
            let order = try await billing.order(try await billing.check(Self.new).id)
            let checked = try await Self.checkMoved(billing)
            #expect(checked.contract?.id == contract.id)
            #expect(try await billing.add(checked.id) == .conflict)
            #expect(try await billing.commit(order) == .conflict)
            // The rest of the statement is recorded all the same.
            let now = try #require(
                try await billing.store.orders.contract(contract.id, publisher: "main"))
            #expect(now.externalSubscriptions.count == 2 && now.state.lifecycle == .active)
            #expect(try await billing.database.count("contracts") == 1)
        }
    }

    @Test("a check that names the previous number continues its contract, without any order")
    func movedByTheCheck() async throws {
        try await Billing.run { billing in
            let contract = try await billing.contract(of: try await billing.check(Self.old).id)
            let checked = try await Self.checkMoved(billing)
            #expect(checked.contract?.id == contract.id)
            let now = try #require(
                try await billing.store.orders.contract(contract.id, publisher: "main"))
            #expect(now.externalSubscriptions.count == 2 && now.state.lifecycle == .active)
            #expect(try #require(now.state.paidUntil) > (try #require(contract.state.paidUntil)))
        }
    }

    @Test("a check that finds a later end changes the contract, and sends its event")
    func renewedByTheCheck() async throws {
        try await Billing.run { billing in
            let contract = try await billing.contract(of: try await billing.check(Self.old).id)
            try await billing.listen()
            #expect(try await billing.check(Self.old, days: 30).contract?.id == contract.id)
            let now = try await billing.store.orders.contract(contract.id, publisher: "main")
            let later = try #require(contract.state.paidUntil) + .seconds(86_400)
            #expect(try #require(now?.state.paidUntil) > later)
            #expect(try await billing.events() == ["ContractChanged"])
        }
    }

    @Test("a concurrent commit and move make one contract, and no error")
    func race() async throws {
        try await withStores(2) { database, stores in
            try await stores[0].webhooks.ensureFirstPublisher()
            let billing = Billing(store: stores[0], database: database)
            let other = Billing(store: stores[1], database: database)
            for number in 0..<12 {
                let (old, new) = ("\(5_000_000_000 + number)", "\(6_000_000_000 + number)")
                let orders = [
                    try await billing.order(try await billing.check(old).id),
                    try await billing.order(try await billing.check(new).id),
                ]
                async let first = billing.commit(orders[0])
                async let second = other.commit(orders[1])
                async let moved: Void = Self.move(other, from: old, to: new)
                let outcomes = [try await first, try await second]
                try await moved
                // Both contracts may have existed before the relay knew that the subscriptions are the same.
                #expect(outcomes.contains { $0 != .conflict })
                let checked = [try await billing.check(new), try await billing.check(old)]
                #expect(checked[0].contract != nil && checked[0] == checked[1])
            }
        }
    }
}
