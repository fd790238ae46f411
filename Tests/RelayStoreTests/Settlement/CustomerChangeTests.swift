import Postgres
import RelayCore
import Testing

@testable import Relay

@Suite("Changes for the publisher")
struct CustomerChangeTests {
    @Test("have one row per customer, with the newest change and a new version")
    func newest() async throws {
        try await withStore { database, store in
            try await store.takeAndGrant(.sample(subscription: "1"))
            #expect(try await database.value("SELECT version FROM customers", as: Int.self) == 1)
            try await store.takeAndGrant(.sample(subscription: "2"))
            #expect(try await database.value("SELECT version FROM customers", as: Int.self) == 2)
            #expect(try await database.count("customers", where: "subscription_key = '2'") == 1)
        }
    }

    @Test("have one row if several of a customer's purchases are granted in one batch")
    func oneBatch() async throws {
        try await withStore { database, store in
            for number in 0..<5 { try await store.take(.sample(subscription: "\(number)")) }
            let outcomes = try await store.purchases.settle(try await store.purchases.claimDue().map { $0.granted() })
            #expect(outcomes == Array(repeating: .written, count: 5))
            #expect(try await database.count("customers") == 1)
            #expect(try await database.count("subscriptions") == 5)
        }
    }

    @Test("are separate for each publisher")
    func publishers() async throws {
        try await withStore { database, store in
            try await store.takeAndGrant(.sample(publisher: "one"))
            try await store.takeAndGrant(.sample(publisher: "two"))
            #expect(
                try await database.column("SELECT publisher FROM customers ORDER BY 1", as: String.self) == [
                    "one", "two",
                ])
        }
    }
}
