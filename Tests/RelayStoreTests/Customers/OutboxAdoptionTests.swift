import Postgres
import RelayCore
import Testing

@testable import RelayStore

@Suite("What the version before left to be told")
struct OutboxAdoptionTests {
    @Test("is taken over once, under the name that the publisher knows the customer by")
    func adopted() async throws {
        try await withStore { database, store in
            let id = try await store.takeAndGrant(.sample(customer: "ana@example.test", subscription: "1"))
            let username: String = try await database.value("SELECT application_username FROM validations")
            try await database.run("DELETE FROM customers")
            try await database.run(
                """
                INSERT INTO outbox (bucket, publisher, customer, reason, accepted_on, id, queued_at)
                SELECT v.bucket, v.publisher, v.customer, 'PURCHASED', v.accepted_on, v.id, now()
                FROM validations v WHERE v.id = $1
                """, .uuid(id.uuid))
            #expect(try await store.customers.adoptOutbox() == 1)
            #expect(try await store.customers.adoptOutbox() == 0)
            #expect(try await database.count("outbox") == 0)
            let untold: [String] = try await database.column(
                "SELECT username || ' ' || reason FROM customers WHERE untold_since IS NOT NULL")
            #expect(untold == ["\(username) PURCHASED"])
        }
    }
}
