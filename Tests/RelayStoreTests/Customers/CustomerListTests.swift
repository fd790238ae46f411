import Postgres
import RelayCore
import Testing

@testable import Relay

@Suite("The list of a publisher's customers")
struct CustomerListTests {
    @Test(
        "counts a bounded number of customers after the page, exactly if no more exist, and never fewer than before it"
    )
    func total() async throws {
        try await withStore { database, store in
            let most = CustomerStore.mostCounted
            try await database.run(
                """
                INSERT INTO subscriptions (
                    bucket, publisher, environment, subscription_key, application_username, app, accepted_at, owned_since)
                SELECT n % 256, 'main', 'Sandbox', n::text, 'u' || lpad((n / 2)::text, 6, '0'), '', now(), now()
                FROM generate_series(2, \(2 * (most + 30)) + 1) AS n
                """)
            func total(_ limit: Int, _ skip: Int, _ publisher: String = "main") async throws -> [Int] {
                let (names, total) = try await store.customers.list(
                    of: PublisherID(publisher), limit: limit, skip: skip)
                return [names.count, total]
            }
            let all = most + 30
            #expect(try await total(10, 0) == [10, most + 10])
            #expect(try await total(10, 10) == [10, most + 20])
            #expect(try await total(10, 20) == [10, all])
            #expect(try await total(10, 500) == [10, all])
            #expect(try await total(100, all - 5) == [5, all])
            #expect(try await total(5, all - 5) == [5, all])
            #expect(try await total(10, all) == [0, most])
            #expect(try await total(10, 0, "other") == [0, 0])
        }
    }
}
