import Formats
import Postgres
import RelayCore
import Testing

@testable import Billing
@testable import Relay

@Suite("Changes of a subscription send events of its contract")
struct ContractMessageTests {
    @Test("turning renewal off is a cancellation; a renewal, a refund and its reversal are changes; repeats are none")
    func life() async throws {
        try await Billing.run { billing in
            try await billing.listen()
            let contract = try await billing.contract(of: try await billing.check("1000000001").id)
            let now = try await billing.database.now()
            /// - Parameter seconds: time of the statement.
            func told(
                _ seconds: Double, _ id: String, days: Double = 1, renews: Bool? = true, isRefunded: Bool = false
            ) async throws -> [String] {
                let before = try await billing.events()
                let saidAt = now + .seconds(rounded: seconds)
                let period = LedgerPeriod(
                    id: TransactionID(id), productID: "com.example.monthly", purchasedAt: now,
                    expiresAt: now + .seconds(rounded: days * 86_400),
                    revocation: isRefunded ? .init(at: saidAt, kind: .refunded) : nil, statedAt: saidAt)
                let word = LedgerStatement(
                    periods: [period], renewal: LedgerRenewal(willRenew: renews, productID: nil, statedAt: saidAt))
                let name = SubscriptionName(
                    publisher: "main", environment: "Sandbox", originalTransactionID: "1000000001")
                _ = try await billing.store.subscriptions.record([LedgerMessage(name, word)])
                var after = try await billing.events()
                for event in before { after.remove(at: try #require(after.firstIndex(of: event))) }
                return after
            }
            // The statement has a transaction of its own, so its end is exact now.
            #expect(try await told(1, "1000000001", days: 1.5) == ["ContractChanged"])
            #expect(try await told(2, "1000000001", days: 1.5, renews: false) == ["ContractCancelled"])
            #expect(try await told(3, "1000000001", days: 1.5, renews: false).isEmpty)
            #expect(try await told(4, "1000000001", days: 1.5) == ["ContractChanged"])
            #expect(try await told(5, "2", days: 2) == ["ContractChanged"])
            #expect(try await told(5, "2", days: 2).isEmpty)
            #expect(try await told(6, "2", days: 2, isRefunded: true) == ["ContractChanged"])
            #expect(try await told(7, "1000000001", days: 1.5, isRefunded: true) == ["ContractChanged"])
            #expect(try await told(8, "1000000001", days: 1.5) == ["ContractChanged"])
            #expect(try await told(9, "1000000001", days: 1.5, isRefunded: true) == ["ContractChanged"])
            #expect(try await told(10, "3", days: 3) == ["ContractChanged"])
            // A renewal, and an end of renewal, in one statement.
            #expect(try await told(11, "4", days: 4, renews: false) == ["ContractCancelled", "ContractChanged"])
            #expect(try await told(12, "4", days: 4, renews: false, isRefunded: true) == ["ContractChanged"])
            #expect(try await told(13, "3", days: 3, renews: false, isRefunded: true) == ["ContractChanged"])
            let ended = try await billing.store.orders.contract(contract.id, publisher: "main")
            #expect(ended?.state.lifecycle == .ended)
            #expect(
                try await billing.messages().allSatisfy {
                    $0.contains(contract.id.description) && $0.contains(contract.customer.description)
                })
        }
    }

    @Test("a grant revives an ended one, in its own transaction")
    func granted() async throws {
        try await Billing.run { billing in
            try await billing.listen()
            _ = try await billing.contract(of: try await billing.check("1000000001").id)
            let (store, now) = (billing.store, try await billing.database.now())
            let name = SubscriptionName(
                publisher: "main", environment: "Sandbox", originalTransactionID: "1000000001")
            _ = try await store.subscriptions.record([LedgerMessage(name, .over(statedAt: now))])
            let before = try await billing.events()
            try await store.takeAndGrant(.sample(environment: "Sandbox"))
            var after = try await billing.events()
            for event in before { after.remove(at: try #require(after.firstIndex(of: event))) }
            #expect(after == ["ContractChanged"])
        }
    }

    @Test("endpoints without the event, with another environment, or removed get no message")
    func endpoints() async throws {
        try await Billing.run { billing in
            let store = billing.store
            _ = try await store.webhooks.addEndpoint(
                publisher: "main", kind: .events(["ContractCreated"]), url: "https://a.test/")
            _ = try await store.webhooks.addEndpoint(
                publisher: "main", kind: .events(["OrderSucceeded"]), url: "https://b.test/", environment: .production)
            _ = try await store.webhooks.addEndpoint(publisher: "main", url: "https://c.test/")
            let gone = try #require(
                try await store.webhooks.addEndpoint(
                    publisher: "main", kind: .events(["OrderSucceeded"]), url: "https://d.test/"))
            #expect(try await store.webhooks.removeEndpoint(gone))
            _ = try await billing.contract(of: try await billing.check("1000000001").id)
            #expect(try await billing.events() == ["ContractCreated"])
            _ = try await billing.contract(of: try await billing.check("1000000001", environment: "Production").id)
            #expect(try await billing.events() == ["ContractCreated", "ContractCreated", "OrderSucceeded"])
        }
    }

    @Test("a subscription without a contract sends no event")
    func others() async throws {
        try await Billing.run { billing in
            try await billing.listen()
            _ = try await billing.check("1000000001")
            let notices = Notices(store: billing.store, database: billing.database)
            try await notices.come("SUBSCRIBED", said: 0, environment: "Sandbox")
            try await notices.come("DID_RENEW", said: 1, period: "2", ends: 172_800, environment: "Sandbox")
            #expect(try await billing.events().isEmpty)
        }
    }

    @Test("a contract follows its subscription to another number")
    func moves() async throws {
        try await Billing.run { billing in
            let contract = try await billing.contract(of: try await billing.check("1000000001").id)
            var notices = Notices(store: billing.store, database: billing.database)
            notices.key = "2000000002"
            try await notices.come(
                "DID_RENEW", said: 1, period: "2", ends: 172_800, environment: "Sandbox", movedFrom: "1000000001")
            #expect(try await billing.check("2000000002").contract?.id == contract.id)
            let now = try await billing.store.orders.contract(contract.id, publisher: "main")
            #expect(now?.externalSubscriptions.count == 2 && now?.state.lifecycle == .active)
        }
    }

    @Test("without a purchase, a statement belongs to the publisher with the contract")
    func publishers() async throws {
        try await Billing.run { billing in
            var generator = SystemRandomNumberGenerator()
            _ = try await billing.store.keys.create(
                role: .publisher, name: "k", publisher: "other", app: "", using: &generator)
            let other = Billing(store: billing.store, database: billing.database, publisher: "other")
            try await other.listen()
            let contract = try await other.contract(of: try await other.check("1000000001").id)
            let notices = Notices(store: billing.store, database: billing.database)
            try await notices.come("DID_RENEW", said: 1, period: "2", ends: 172_800, environment: "Sandbox")
            #expect(try await other.events() == ["ContractChanged", "ContractCreated", "OrderSucceeded"])
            #expect(try await other.messages().allSatisfy { $0.contains(contract.id.description) })
        }
    }

    @Test("a subscription is found by its own number and by its newest transaction's")
    func transactions() async throws {
        try await Billing.run { billing in
            let subscription = try await billing.check("1000000001")
            _ = try await billing.contract(of: subscription.id)
            let now = try await billing.database.now()
            let period = LedgerPeriod(
                id: "line-2", productID: "com.example.monthly", purchasedAt: now + .seconds(60),
                expiresAt: now + .seconds(90_000), statedAt: now + .seconds(60), transactionID: "1000000777")
            _ = try await billing.store.subscriptions.record(
                [
                    LedgerMessage(
                        SubscriptionName(
                            publisher: "main", environment: "Sandbox", originalTransactionID: "1000000001"),
                        LedgerStatement(periods: [period]))
                ])
            for id in ["1000000001", "1000000777"] {
                let found = try await billing.store.orders.subscriptions(
                    ofTransaction: TransactionID(id), publisher: "main")
                #expect(found.map(\.key) == ["1000000001"], "\(id)")
                #expect(try await billing.record(found).first?.id == subscription.id)
            }
            #expect(
                try await billing.store.orders.subscriptions(ofTransaction: "1000000001", publisher: "other").isEmpty)
            #expect(try await billing.store.orders.subscriptions(ofTransaction: "5", publisher: "main").isEmpty)
        }
    }
}
