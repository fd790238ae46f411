import Postgres
import RelayCore
import RelayStore
import Testing

/// The customers whom an erasure affects.
@Suite struct ErasureScopeTests {
    /// Two publishers may have a customer of the same name, and both in the same bucket.
    @Test func anotherPublishersCustomerOfTheSameNameKeepsItsMessages() async throws {
        try await withStore { database, store in
            for publisher in ["main", "other"] { _ = try await store.publishers.add(PublisherID(publisher)) }
            let name = try #require(
                (0..<100_000).lazy.map { "u-\($0)" }.first { Bucket(of: "main", $0) == Bucket(of: "other", $0) })
            let bucket = Int16(Bucket(of: "main", name).number)
            for (id, publisher) in [("0123456789abcdef01234567", "main"), ("89abcdef0123456789abcdef", "other")] {
                _ = try await database.hand.query(
                    SQL(
                        "INSERT INTO webhook_endpoints (id, publisher, kind, url) VALUES ($1, $2, 1, 'https://a.example')",
                        [.text(id), .text(publisher)]))
                _ = try await database.hand.query(
                    SQL(
                        """
                        INSERT INTO webhook_queue (bucket, id, accepted_on, due_at, created_at, sequence, endpoint, lane)
                        VALUES ($1, gen_random_uuid(), current_date, now(), now(), 1, $2, $3)
                        """, [.int2(bucket), .text(id), .text(name)]))
            }
            _ = try await database.hand.query(
                SQL(
                    "INSERT INTO customers (bucket, publisher, username, changed_at, reason) VALUES ($1, 'main', $2, now(), 'OTHER')",
                    [.int2(bucket), .text(name)]))
            let identity = try await store.customers.identity(of: name)
            #expect(identity.names.map(\.publisher) == ["main"])
            _ = try await Erasure(store: store).run(
                identity, AuditEntry(actor: "test", .customerErased, "a customer", of: nil))
            let left = try await database.hand.query(SQL("SELECT endpoint FROM webhook_queue"))
            #expect(try left.map { try $0.get(0, as: String.self) } == ["89abcdef0123456789abcdef"])
        }
    }
}
