import Postgres
import RelayCore
import Testing

@testable import Billing
@testable import Relay

@Suite("One subscription of a store has one contract")
struct CommitTests {
    @Test("a subscription always has the same id; a check inserts only its row")
    func ids() async throws {
        try await Billing.run { billing in
            let first = try await billing.check("1000000001")
            #expect(try await billing.check("1000000001") == first && first.contract == nil)
            // A fixed value, since the id must never change.
            #expect(
                BillingID(
                    external: SubscriptionName(
                        publisher: "main", environment: "Sandbox", originalTransactionID: "1000000001")) == first.id)
            #expect(try await billing.check("1000000001", environment: "Production").id != first.id)
            #expect(try await billing.check("1000000002").id != first.id)
            for table in ["billing_customers", "orders", "contracts", "contract_subscriptions", "ledgers", "customers"]
            {
                #expect(try await billing.database.count(table) == 0, "\(table)")
            }
            #expect(try await billing.database.count("external_subscriptions") == 3)
        }
    }

    @Test("a commit makes the contract, a repeat returns it, and the ledger has the store's statement")
    func commit() async throws {
        try await Billing.run { billing in
            try await billing.listen()
            let subscription = try await billing.check("1000000001")
            let order = try await billing.order(subscription.id)
            #expect(order.state == .inProgress && order.type == .signup && order.productID == "com.example.monthly")
            #expect(
                try await billing.store.orders.contract(order.contract, publisher: "main")
                    == nil)
            guard case .contract(let contract) = try await billing.commit(order) else {
                Issue.record("no contract")
                return
            }
            #expect(contract.id == order.contract && contract.customer == order.customer)
            #expect(contract.state.lifecycle == .active && contract.externalSubscriptions == [subscription.id])
            guard case .contract(let again) = try await billing.commit(order) else {
                Issue.record("no contract the second time")
                return
            }
            #expect(again.id == contract.id)
            #expect(try await billing.store.orders.order(order.id, publisher: "main")?.state == .completed)
            // A later check states a later end, of which the contract's endpoints are notified too.
            #expect(try await billing.events() == ["ContractCreated", "OrderSucceeded"])
            let checked = try await billing.check("1000000001")
            #expect(checked.contract == .init(id: contract.id, customer: contract.customer))
            let ledger = try await billing.store.ops.subscriptions(
                matching: SubscriptionFilter(originalTransactionID: "1000000001")
            ).items.first
            #expect(ledger?.status == .active)
        }
    }

    @Test("one order committed by two copies in the same moment makes one contract and one message of each kind")
    func sameOrderTwice() async throws {
        try await withStores(2) { database, stores in
            try await stores[0].webhooks.ensureFirstPublisher()
            let billing = Billing(store: stores[0], database: database)
            try await billing.listen()
            for number in 0..<10 {
                let order = try await billing.order(try await billing.check("\(2_000_000_000 + number)").id)
                async let one = billing.commit(order, by: stores[0])
                async let two = billing.commit(order, by: stores[1])
                for outcome in [try await one, try await two] {
                    guard case .contract(let contract) = outcome else {
                        Issue.record("\(outcome)")
                        continue
                    }
                    #expect(contract.id == order.contract)
                }
            }
            #expect(try await database.count("contracts") == 10)
            #expect(try await database.count("contract_subscriptions") == 10)
            #expect(try await billing.events().filter { $0 == "OrderSucceeded" }.count == 10)
        }
    }

    @Test("of competing orders the first committed one wins, and the others stay in progress")
    func competing() async throws {
        try await withStores(2) { database, stores in
            try await stores[0].webhooks.ensureFirstPublisher()
            let billing = Billing(store: stores[0], database: database)
            for number in 0..<10 {
                let subscription = try await billing.check("\(3_000_000_000 + number)").id
                let orders = [try await billing.order(subscription), try await billing.order(subscription)]
                async let one = billing.commit(orders[0], by: stores[0])
                async let two = billing.commit(orders[1], by: stores[1])
                let outcomes = [try await one, try await two]
                #expect(outcomes.filter { $0 == .conflict }.count == 1)
                let winner = outcomes[0] == .conflict ? 1 : 0
                #expect(
                    try await billing.store.orders.order(orders[1 - winner].id, publisher: "main")?.state == .inProgress
                )
                #expect(try await billing.check("\(3_000_000_000 + number)").contract?.id == orders[winner].contract)
                #expect(try await billing.add(subscription) == .conflict)
                #expect(try await billing.commit(orders[1 - winner]) == .conflict)
            }
            #expect(try await database.count("contracts") == 10)
        }
    }

    @Test("the database itself refuses a second contract of one subscription")
    func uniqueKey() async throws {
        try await Billing.run { billing in
            let contract = try await billing.contract(of: try await billing.check("1000000001").id)
            let error = await postgresError {
                try await billing.database.run(
                    """
                    INSERT INTO contract_subscriptions
                    SELECT bucket, external_subscription, publisher, $1, customer, platform, environment,
                           subscription_key, ledger_bucket, added_at
                    FROM contract_subscriptions
                    """, .text("66aa00000000000000000001"))
            }
            #expect(error?.sqlState == "23505" && contract.externalSubscriptions.count == 1)
        }
    }

    @Test("a contract takes further subscriptions of its own store, and of no other")
    func upgrade() async throws {
        try await Billing.run { billing in
            try await billing.listen()
            let contract = try await billing.contract(of: try await billing.check("1000000001").id)
            let google = try await billing.check("google:token").id
            #expect(try await billing.add(google, .contract(contract.id)) == .otherPlatform(.apple))
            let order = try await billing.order(try await billing.check("1000000002").id, .contract(contract.id))
            #expect(order.type == .upgrade && order.contract == contract.id && order.customer == contract.customer)
            guard case .contract(let upgraded) = try await billing.commit(order) else {
                Issue.record("no contract")
                return
            }
            #expect(upgraded.id == contract.id && upgraded.externalSubscriptions.count == 2)
            #expect(try await billing.database.count("contracts") == 1)
            #expect(
                try await billing.events() == [
                    "ContractChanged", "ContractCreated", "OrderSucceeded", "OrderSucceeded",
                ])
        }
    }

    @Test("no publisher sees, orders or commits another's subscriptions")
    func publishers() async throws {
        try await Billing.run { billing in
            var generator = SystemRandomNumberGenerator()
            _ = try await billing.store.keys.create(
                role: .publisher, name: "k", publisher: "other", app: "", using: &generator)
            let other = Billing(store: billing.store, database: billing.database, publisher: "other")
            let mine = try await billing.check("1000000001")
            let contract = try await billing.contract(of: mine.id)
            let theirs = try await other.check("1000000001")
            #expect(theirs.id != mine.id && theirs.contract == nil)
            #expect(try await other.add(mine.id) == .unknownSubscription)
            #expect(try await other.add(theirs.id, .customer(contract.customer)) == .unknownCustomer)
            #expect(try await other.add(theirs.id, .contract(contract.id)) == .unknownContract)
            #expect(
                try await billing.store.orders.contract(contract.id, publisher: "other") == nil)
            #expect(try await billing.store.orders.billingCustomer(contract.customer, publisher: "other") == nil)
            let order = try await billing.order(try await billing.check("1000000002").id)
            #expect(try await other.commit(order) == .unknownOrder)
            #expect(try await other.store.orders.list(of: "other", BillingPage()).isEmpty)
        }
    }

    @Test("lists continue after the previous page, in order of writing")
    func pages() async throws {
        try await Billing.run { billing in
            var made: [BillingID] = []
            for number in 0..<7 {
                let order = try await billing.order(try await billing.check("\(4_000_000_000 + number)").id)
                _ = try await billing.commit(order)
                made.append(order.id)
            }
            var seen: [BillingID] = []
            var page = BillingPage(take: 3)
            for count in [3, 3, 1, 0] {
                let found = try await billing.store.orders.list(of: "main", page)
                #expect(found.count == count)
                seen += found.map(\.id)
                page.from = seen.last
            }
            #expect(seen == made)
            let contracts = try await billing.store.orders.contracts(
                of: "main", BillingPage(take: 5))
            #expect(contracts.count == 5 && contracts.allSatisfy { $0.externalSubscriptions.count == 1 })
            let last = try #require(contracts.last)
            #expect(
                try await billing.store.orders.contracts(
                    of: "main", BillingPage(from: last.id)
                ).count == 2)
            let own = try await billing.store.orders.contracts(
                of: "main", customer: last.customer, BillingPage())
            #expect(own.map(\.id) == [last.id])
            #expect(try await billing.store.orders.billingCustomers(of: "main", BillingPage(take: 500)).count == 7)
        }
    }
}
