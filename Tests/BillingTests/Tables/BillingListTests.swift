import Postgres
import RelayCore
import Testing

@testable import Billing
@testable import Relay

@Suite("Billing's lists, by the time of writing")
struct BillingListTests {
    private static func ids(_ billing: Billing, after id: BillingID? = nil) async throws -> [BillingID] {
        try await billing.store.orders.contracts(of: "main", BillingPage(from: id)).map(\.id)
    }

    /// Timeline: an order is made, which fixes its contract's id. Others are made and committed. A reader reaches the
    /// end of the list. The first order is committed.
    @Test("a contract committed late is found by a reader that continues from the former end")
    func lateCommit() async throws {
        try await Billing.run { billing in
            var late: [BillingOrder] = []
            for number in 0..<6 {
                late.append(try await billing.order(try await billing.check("\(1_000_000_001 + number)").id))
            }
            let early = try await billing.contract(of: try await billing.check("2000000001").id)
            let seen = try await Self.ids(billing)
            #expect(seen == [early.id])
            for order in late { _ = try await billing.commit(order) }
            #expect(try await Self.ids(billing, after: seen.last) == late.map(\.contract))
            #expect(try await Self.ids(billing) == [early.id] + late.map(\.contract))
            let own = try await billing.store.orders.contracts(
                of: "main", customer: late[0].customer, BillingPage())
            #expect(own.map(\.id) == [late[0].contract])
        }
    }

    @Test("a contract with a ledger that this version cannot read hides no other, and is an error by itself")
    func unreadable() async throws {
        try await Billing.run { billing in
            var made: [BillingContract] = []
            for number in 1...3 {
                made.append(try await billing.contract(of: try await billing.check("100000000\(number)").id))
            }
            try await billing.database.run("UPDATE ledgers SET state = '{' WHERE subscription_key = '1000000002'")
            #expect(try await Self.ids(billing) == [made[0].id, made[2].id])
            #expect(try await Self.ids(billing, after: made[0].id) == [made[2].id])
            await #expect(throws: StoreError.self) {
                try await billing.store.orders.contract(made[1].id, publisher: "main")
            }
        }
    }

    @Test("rows of one second are listed in order of writing, whatever their ids")
    func oneSecond() async throws {
        try await Billing.run { billing in
            var made: [BillingID] = []
            var page = BillingPage(take: 2)
            for _ in 0..<20 {
                made.append(try await billing.store.orders.addBillingCustomer(details: "{}", publisher: "main").id)
                // A reader that continues from the cursor finds each of them once.
                let found = try await billing.store.orders.billingCustomers(of: "main", page)
                #expect(found.map(\.id) == [made.last])
                page.from = found.last?.id ?? page.from
            }
            #expect(try await billing.store.orders.billingCustomers(of: "main", BillingPage()).map(\.id) == made)
        }
    }

    @Test(
        "an id without a visible row means its second: an invented, a deleted, or another publisher's one"
    )
    func unknownPlace() async throws {
        try await Billing.run { billing in
            let order = try await billing.order(try await billing.check("1000000001").id)
            func orders(after id: BillingID?) async throws -> [BillingID] {
                try await billing.store.orders.list(of: "main", BillingPage(from: id)).map(\.id)
            }
            let now = try await billing.database.now()
            func madeUp(_ seconds: Int64) -> BillingID? {
                BillingID(
                    String(UInt32(now.microseconds / 1_000_000 + seconds), radix: 16)
                        + String(repeating: "0", count: 16))
            }
            #expect(try await orders(after: madeUp(-60)) == [order.id])
            #expect(try await orders(after: madeUp(60)).isEmpty)
            #expect(try await orders(after: order.id).isEmpty)
            let second = try await billing.order(try await billing.check("1000000002").id)
            try await billing.database.run("DELETE FROM orders WHERE id = $1", .text(order.id.description))
            #expect(try await orders(after: order.id) == [second.id])
        }
    }

    @Test("operators see the orders of their publishers alone, newest first")
    func scope() async throws {
        try await Billing.run { billing in
            let orders = [
                try await billing.order(try await billing.check("1000000001").id),
                try await billing.order(try await billing.check("1000000002").id),
            ]
            let store = billing.store.orders
            #expect(try await store.newest(of: "main", in: .publisher("main")).items == orders.reversed())
            #expect(try await store.newest(of: "main", in: .publisher("acme")).items.isEmpty)
            let page = OpsPage.orders
            func read(_ scope: OpsScope, after cursor: String? = nil) async throws -> OpsPage.Rows {
                try await page.read(
                    OpsPage.Asked(publisher: "main", cursor: cursor, scope: scope, time: { $0.rfc3339 }), billing.store)
            }
            let rows = try await read(.publisher("main"))
            #expect(rows.texts.map(\.first) == orders.reversed().map { "\($0.id)" } && rows.next == nil)
            #expect(rows.texts.allSatisfy { $0.count == page.columns.count })
            let later = try await read(.all, after: "\(orders[1].id)")
            #expect(later.texts.map(\.first) == ["\(orders[0].id)"])
            #expect(try await read(.publisher("acme")).texts.isEmpty)
        }
    }
}
