import Foundation
import Postgres
import RelayCore
import Testing

@testable import Relay

@Suite("Idempotency-Key")
struct IdempotencyKeyTests {
    private func sample(
        _ subscription: String, key: String = "k", body: String? = nil, apiKey: String = "app-key"
    ) throws -> Acceptance {
        try .sample(
            subscription: subscription, idempotencyKey: .sample(key, body: body ?? subscription, apiKey: apiKey))
    }

    @Test("names the validation that it first made, for the same body")
    func sameBody() async throws {
        try await withStore { database, store in
            let first = try await store.take(try sample("1"))
            #expect(try await store.accept(try sample("1")) == .existing(first))
            #expect(try await database.count("validations") == 1)
        }
    }

    @Test("names the first validation even after its end; the purchase without a key would get a new one")
    func afterTheEnd() async throws {
        try await withStore { database, store in
            let first = try await store.takeAndClaim(try sample("1"))
            try await store.write(first.rejected())
            #expect(try await store.accept(try sample("1")) == .existing(first.id))
            #expect(try await database.count("validations") == 1)
            #expect(try await store.accept(.sample(subscription: "1")).isCreated)
        }
    }

    @Test("is refused for another body, and nothing is stored")
    func otherBody() async throws {
        try await withStore { database, store in
            let first = try await store.take(try sample("1"))
            #expect(try await store.accept(try sample("2")) == .idempotencyKeyReused)
            // The same purchase with another body is refused as well.
            #expect(try await store.accept(try sample("1", body: "1 and a coupon")) == .idempotencyKeyReused)
            #expect(try await database.count("validations") == 1)
            #expect(try await database.count("purchases") == 1)
            #expect(try await store.accept(try sample("1")) == .existing(first))
        }
    }

    @Test("with two bodies in one batch stores one, refuses the other, and does not affect the rest")
    func inOneBatch() async throws {
        try await withStore { database, store in
            let samples =
                try [sample("1"), sample("2")] + (3...20).map { try Acceptance.sample(subscription: "\($0)") }
            let outcomes = try await acceptAll(samples, by: [store.intake()])
            #expect(outcomes[..<2].filter(\.isCreated).count == 1)
            #expect(outcomes[..<2].filter { $0 == .idempotencyKeyReused }.count == 1)
            #expect(outcomes[2...].allSatisfy { $0.isCreated })
            #expect(try await database.count("validations") == 19)
        }
    }

    @Test("with two bodies in one statement is refused by the database as a whole")
    func inOneStatement() async throws {
        try await withStore { database, store in
            let batch = try [sample("1"), sample("2")]
            let error = await postgresError {
                try await database.hand.query(AcceptStatement.query(batch, timeout: .seconds(60)))
            }
            #expect(error?.sqlState == "21000")
            #expect(try await database.count("validations") == 0)
        }
    }

    @Test("with two bodies from two processes at once makes one and refuses the other", arguments: 1...3)
    func fromTwoProcesses(round: Int) async throws {
        try await withStores(2) { database, stores in
            let samples = try (0..<40).map { try sample("\($0)", key: "k\($0 / 2)") }
            let outcomes = try await acceptAll(samples, by: stores.map { $0.intake() })
            for pair in 0..<20 {
                let two = [outcomes[2 * pair], outcomes[2 * pair + 1]]
                #expect(two.filter(\.isCreated).count == 1)
                #expect(two.filter { $0 == .idempotencyKeyReused }.count == 1)
            }
            #expect(try await database.count("validations") == 20)
            #expect(try await database.count("idempotency_keys") == 20)
        }
    }

    @Test("of another process that has not committed yet is waited for, then refused")
    func uncommitted() async throws {
        try await withStores(2) { database, stores in
            let first = try sample("1")
            let other = try sample("2")
            let accepting = try await database.hand.withTransaction { transaction in
                _ = try await transaction.query(AcceptStatement.query([first], timeout: .seconds(60)))
                let accepting = Task { try await stores[0].accept(other) }
                try await database.waitUntilBlocked()
                return accepting
            }
            #expect(try await accepting.value == .idempotencyKeyReused)
            #expect(try await database.column("SELECT id FROM validations", as: UUID.self) == [first.id.uuid])
        }
    }

    @Test("is free again after 24 hours, and not before")
    func expiry() async throws {
        try await withStore { database, store in
            let first = try await store.take(try sample("1"))
            try await database.letPass(seconds: 86_000)
            #expect(try await store.accept(try sample("2")) == .idempotencyKeyReused)
            try await database.letPass(seconds: 400)
            let second = try await store.take(try sample("2"))
            #expect(second != first)
            #expect(try await store.accept(try sample("2")) == .existing(second))
            #expect(try await store.accept(try sample("1")) == .idempotencyKeyReused)
        }
    }

    @Test("belongs to an API key: another API key may use the same")
    func apiKeys() async throws {
        try await withStore { database, store in
            try await store.take(try sample("1", apiKey: "one"))
            #expect(try await store.accept(try sample("2", apiKey: "two")).isCreated)
            #expect(try await store.accept(try sample("3", apiKey: "two")) == .idempotencyKeyReused)
        }
    }

    @Test("is removed by the upkeep only after its time")
    func pruning() async throws {
        try await withStore { database, store in
            try await store.take(try sample("1", key: "old"))
            try await database.letPass(seconds: 90_000)
            try await store.take(try sample("2", key: "new"))
            #expect(try await store.retention.pruneIdempotencyKeys() == 1)
            #expect(try await database.count("idempotency_keys") == 1)
            #expect(try await store.accept(try sample("3", key: "new")) == .idempotencyKeyReused)
        }
    }
}
