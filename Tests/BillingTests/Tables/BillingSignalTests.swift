import NIOConcurrencyHelpers
import Postgres
import RelayCore
import Testing

@testable import Billing
@testable import Relay

@Suite("Committed messages signal the delivery")
struct BillingSignalTests {
    @Test("once for each change of a contract with an endpoint, and for nothing else")
    func bell() async throws {
        try await withStore { database, _ in
            let rings = NIOLockedValueBox(0)
            let store = RelayStore(
                pool: database.hand, vault: .plain(), instance: "rung", logger: .silent,
                features: [.billing],
                onDue: { work in if work == .webhooks { rings.withLockedValue { $0 += 1 } } })
            func heard() -> Int {
                rings.withLockedValue { count in
                    defer { count = 0 }
                    return count
                }
            }
            try await store.webhooks.ensureFirstPublisher()
            let billing = Billing(store: store, database: database)
            // A repeated notification must have identical times.
            let notices = Notices(store: store, database: database, from: try await database.now())
            _ = try await billing.contract(of: try await billing.check("1000000001").id)
            try await notices.come("DID_RENEW", said: 1, period: "2", ends: 172_800, environment: "Sandbox")
            #expect(heard() == 0, "there is no endpoint")
            try await billing.listen()
            let order = try await billing.order(try await billing.check("1000000002").id)
            #expect(heard() == 0)
            _ = try await billing.commit(order)
            #expect(heard() == 1)
            _ = try await billing.commit(order)
            #expect(heard() == 0)
            // First by a notification, then by an evaluation of the ledger service.
            try await notices.come("DID_RENEW", said: 2, period: "3", ends: 259_200, environment: "Sandbox")
            #expect(heard() == 1)
            try await notices.come("DID_RENEW", said: 2, period: "3", ends: 259_200, environment: "Sandbox")
            #expect(heard() == 0)
            let now = try await database.now()
            let word = LedgerStatement(
                renewal: LedgerRenewal(willRenew: false, productID: nil, statedAt: now + .seconds(9)))
            let name = SubscriptionName(publisher: "main", environment: "Sandbox", originalTransactionID: "1000000001")
            _ = try await store.subscriptions.record([LedgerMessage(name, word)])
            #expect(heard() == 1)
            #expect(try await billing.events().count == 4)
        }
    }
}
