import Foundation
import NIOConcurrencyHelpers
import Postgres
import RelayCore
import Testing

@testable import Relay

@Suite("Grants of the previous version")
struct GrantsCarriedOverTests {
    private static let grants = 100_000
    /// The last migration of the version that evaluated again only subscriptions with a period.
    private static let before = 21

    @Test("a hundred thousand have due ledgers after the upgrade, which delays no concurrent write for long")
    func carriedOver() async throws {
        try await TestDatabase.run { database in
            let store = await database.store("one")
            try await store.schema.migrate(Migration.all.filter { $0.number <= Self.before })
            try await fill(database)

            let writer = Writer(await database.store("before", parameters: ["lock_timeout": "10000"]))
            let found = try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await writer.run() }
                try await store.schema.migrate()
                let found = try await walk(store)
                writer.end()
                try await group.waitForAll()
                return found
            }
            #expect(writer.rounds > 0)
            // One purchase in a hundred was granted on a subscription that another customer owns.
            #expect(found == GrantCheck.Found(unnumbered: Self.grants, alone: Self.grants / 100))
            #expect(
                try await database.count("validations", where: "status = 1 AND owner_no IS NOT NULL") == Self.grants)
            #expect(try await database.count("ledgers", where: "due_at IS NOT NULL") == Self.grants)
            let unwatched: Int = try await database.value(
                """
                SELECT count(*) FROM validations v
                WHERE v.status = 1 AND NOT EXISTS (
                    SELECT FROM ledgers l
                    WHERE l.bucket = v.bucket AND l.publisher = v.publisher AND l.environment = v.environment
                      AND l.subscription_key = v.subscription_key AND l.due_at IS NOT NULL)
                """)
            #expect(unwatched == 0)
            // A store's statement stays, and so does the due time of a planned evaluation.
            #expect(
                try await database.count("ledgers", where: "status = 1 AND due_at > now() AND state = '{}'")
                    == Self.grants / 4)
            // From now on the database refuses a second granted customer.
            let error = await postgresError {
                try await database.run(
                    """
                    UPDATE validations SET owner_no = 7
                    WHERE id = (SELECT id FROM validations WHERE status = 1 LIMIT 1)
                    """)
            }
            #expect(error?.sqlState == "23503")
        }
    }

    /// Runs the check over all grants, in parts like the service.
    private func walk(_ store: RelayStore) async throws -> GrantCheck.Found {
        var found = GrantCheck.Found()
        while true {
            let part = try await GrantCheck(store: store).run(budget: .seconds(2))
            guard part != GrantCheck.Found() else { return found }
            found.unnumbered += part.unnumbered
            found.alone += part.alone
            found.unwatched += part.unwatched
        }
    }

    /// Inserts one purchase and many copies of it. A quarter of the subscriptions have a ledger with an end, a quarter
    /// a ledger without one, and half have none. The row is inserted by hand, since today's intake writes columns that
    /// this schema does not have.
    private func fill(_ database: TestDatabase) async throws {
        try await database.run("CREATE TABLE sample (LIKE validations INCLUDING DEFAULTS)")
        try await database.run(
            """
            INSERT INTO sample (
                bucket, accepted_on, id, accepted_at, deadline, status, receipt_readable, publisher, app, email, customer,
                application_username, offer_id, transaction_id, app_type, subscription_key, environment, purchase_key)
            VALUES (0, current_date, gen_random_uuid(), now(), now() + interval '60 seconds', 0, true, 'main', 'ios',
                    'c@example.test', 'c@example.test', '', 'S1', '1', 'ios', '1', 'Production', '\\x00')
            """)
        for part in 0..<10 { try await fill(database, part: part, of: 10) }
    }

    /// Inserts one part, so that each statement ends within its time limit.
    private func fill(_ database: TestDatabase, part: Int, of parts: Int) async throws {
        func run(_ sql: String, _ parameters: PostgresValue...) async throws {
            _ = try await database.hand.query(SQL(sql, parameters), timeout: .seconds(120))
        }
        let keys = stride(from: part, to: Self.grants, by: parts).map { String(200_000_000 + $0) }
        try await run(
            """
            INSERT INTO validations
            SELECT r.*
            FROM sample s, unnest($1::int2[], $2::text[]) AS k(bucket, key),
                 LATERAL jsonb_populate_record(s, jsonb_build_object(
                     'bucket', k.bucket, 'id', gen_random_uuid(), 'subscription_key', k.key, 'transaction_id', k.key,
                     'email', 'c' || k.key || '@example.test', 'customer', 'c' || k.key || '@example.test',
                     'status', 1, 'settled_at', now(), 'expires_at', now() + interval '20 days',
                     'evidence', 'entitled', 'forwards', 1)) r
            """, .int2Array(keys.map { Int16(Bucket(of: PublisherID("main"), TransactionID($0)).number) }),
            .textArray(keys))
        try await run(
            """
            INSERT INTO subscriptions (
                bucket, publisher, environment, subscription_key, customer, email, application_username, app, offer_id,
                accepted_on, id, accepted_at, owned_since, expires_at)
            SELECT bucket, publisher, environment, subscription_key, owner, owner, application_username, app, offer_id,
                   accepted_on, id, accepted_at, settled_at, expires_at
            FROM (SELECT *, CASE WHEN right(subscription_key, 2) = '00' THEN 'other-' ELSE '' END || customer AS owner
                  FROM validations WHERE subscription_key::bigint % $1 = $2) v
            """, .int8(Int64(parts)), .int8(Int64(part)))
        try await run(
            """
            INSERT INTO ledgers (
                bucket, publisher, environment, subscription_key, heard_at, granted_at, due_at, expires_at, status, state)
            SELECT bucket, publisher, environment, subscription_key, now(), settled_at,
                   CASE number % 4 WHEN 1 THEN expires_at END, CASE number % 4 WHEN 1 THEN expires_at END,
                   CASE number % 4 WHEN 1 THEN 1 END, CASE number % 4 WHEN 1 THEN '{}' END
            FROM (SELECT *, subscription_key::bigint AS number FROM validations WHERE subscription_key::bigint % $1 = $2) v
            WHERE number % 4 IN (1, 3)
            """, .int8(Int64(parts)), .int8(Int64(part)))
    }
}

/// Accepts and rejects purchases and extends grants, as copies of the previous version do during an upgrade. A
/// statement that waits for a lock longer than its session allows fails.
private final class Writer: Sendable {
    private struct State {
        var isOver = false
        var rounds = 0
    }

    private let store: RelayStore
    private let state = NIOLockedValueBox(State())

    init(_ store: RelayStore) { self.store = store }

    var rounds: Int { state.withLockedValue(\.rounds) }

    func end() { state.withLockedValue { $0.isOver = true } }

    private static let round = [
        """
        INSERT INTO validations
        SELECT (jsonb_populate_record(s, jsonb_build_object('id', gen_random_uuid()))).* FROM sample s
        """,
        "UPDATE validations SET status = 2, settled_at = now(), reason = 'refused' WHERE status = 0",
        """
        UPDATE subscriptions SET expires_at = now() + interval '30 days'
        WHERE (bucket, id) IN (SELECT bucket, id FROM subscriptions LIMIT 1)
        """,
    ]

    func run() async throws {
        while !state.withLockedValue(\.isOver) {
            for statement in Self.round {
                _ = try await store.database.query(SQL(statement), timeout: .seconds(60))
            }
            state.withLockedValue { $0.rounds += 1 }
        }
    }
}
