import Postgres
import Testing

@testable import Relay

@Suite("Apps that the previous version did not sweep")
struct MissedAppsTests {
    /// The last migration of that version.
    private static let before = 31

    @Test("are those of all Google purchases, each once; existing sweeps stay unchanged")
    func filled() async throws {
        try await TestDatabase.run { database in
            let store = await database.store("one")
            try await store.schema.migrate(Migration.all.filter { $0.number <= Self.before })
            try await database.run(
                """
                INSERT INTO store_sweeps (publisher, store, app, swept_at)
                VALUES ('main', 'google', 'com.example.one', '2026-11-20T08:00:00Z')
                """)
            try await database.run(
                """
                INSERT INTO ledgers (bucket, publisher, environment, subscription_key, bundle_id, heard_at)
                VALUES (0, 'main', 'Production', 'google:1', 'com.example.one', now()),
                       (1, 'main', 'Production', 'google:2', 'com.example.two', now()),
                       (2, 'main', 'Sandbox', 'google:3', 'com.example.two', now()),
                       (3, 'other', 'Production', 'google:4', 'com.example.two', now()),
                       (4, 'main', 'Production', 'google:5', NULL, now()),
                       (5, 'main', 'Production', 'amazon:1', 'user', now()),
                       (6, 'main', 'Production', '1000000001', 'com.example.three', now())
                """)
            try await store.schema.migrate()
            let apps = try await database.column(
                """
                SELECT concat_ws(
                    ' ', publisher, store, app, CASE WHEN swept_at = '2026-11-20T08:00:00Z' THEN 'swept' END)
                FROM store_sweeps WHERE asked_since IS NULL ORDER BY 1
                """, as: String.self)
            #expect(
                apps == [
                    "main google com.example.one swept", "main google com.example.two", "other google com.example.two",
                ])
        }
    }
}
