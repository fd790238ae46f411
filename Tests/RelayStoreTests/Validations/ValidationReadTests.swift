import Postgres
import RelayCore
import Testing

@testable import Relay

@Suite("Reading validations")
struct ValidationReadTests {
    @Test("is never pending at or after the deadline, even without a worker")
    func deadline() async throws {
        try await withStore { database, store in
            let id = try await store.take(.sample())
            try await database.letPass(seconds: 30)
            #expect(try await store.status(of: id) == .pending)
            try await database.letPass(seconds: 30)
            let told = try #require(try await store.purchases.validation(id))
            #expect(told.status == .timedOut)
            #expect(told.settledAt == told.deadline)
            #expect(try await store.purchases.validations([id]) == [told])
        }
    }

    @Test("of several ids returns the existing ones")
    func many() async throws {
        try await withStore { database, store in
            var ids: [ValidationID] = []
            for number in 0..<3 { ids.append(try await store.take(.sample(subscription: "\(number)"))) }
            let found = try await store.purchases.validations(ids + [try Acceptance.sample().id])
            #expect(Set(found.map(\.id)) == Set(ids))
            #expect(try await store.purchases.validations([]).isEmpty)
        }
    }

    @Test("by customer and offer: the granted one, else the pending one, else the newest")
    func ofCustomer() async throws {
        try await withStore { database, store in
            func told() async throws -> ValidationID? {
                try await store.subscriptions.entitlement(
                    of: "ana@example.test", to: "S123456789_US", publisher: "main")?.id
            }
            #expect(try await told() == nil)
            let rejected = try await store.takeAndClaim(.sample(subscription: "1"))
            #expect(try await told() == rejected.id)
            try await store.write(rejected.rejected())
            let pending = try await store.takeAndClaim(.sample(subscription: "2")).id
            try await store.write(try await store.takeAndClaim(.sample(subscription: "3")).rejected())
            #expect(try await told() == pending)
            let granted = try await store.takeAndGrant(.sample(subscription: "4"))
            _ = try await store.takeAndClaim(.sample(subscription: "5"))
            #expect(try await told() == granted)
            try await database.letPass(seconds: 60)
            #expect(try await told() == granted)
            // Purchases of another customer, offer or publisher do not count.
            _ = try await store.takeAndGrant(.sample(customer: "ben@example.test", subscription: "6"))
            _ = try await store.takeAndGrant(.sample(subscription: "7", offer: "S2_US"))
            _ = try await store.takeAndGrant(.sample(subscription: "8", publisher: "other"))
            #expect(try await told() == granted)
            // All apps of the publisher count.
            let television = try await store.takeAndGrant(.sample(subscription: "9", app: "com.example.other"))
            #expect(try await told() == television)
        }
    }
}
