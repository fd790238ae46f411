import Postgres
import RelayCore
import Testing

@testable import Relay

@Suite("Migrations")
struct MigrationTests {
    private let first = Migration("0001_first", Array("CREATE TABLE first (id integer PRIMARY KEY);".utf8))
    private let second = Migration("0002_second", Array("CREATE TABLE second (id integer PRIMARY KEY);".utf8))

    @Test("are applied only once")
    func twice() async throws {
        try await TestDatabase.run { database in
            let store = await database.store("one")
            let applied = Applied()
            try await store.schema.migrate { applied.add($0.name) }
            #expect(applied.names == Migration.all.map(\.name))
            try await store.schema.migrate { applied.add($0.name) }
            #expect(applied.names == Migration.all.map(\.name))
            #expect(
                try await database.column("SELECT number FROM schema_migrations ORDER BY 1")
                    == Migration.all.map(\.number))
        }
    }

    @Test("copies that start at once apply each migration once, and none fails", arguments: 1...3)
    func atOnce(round: Int) async throws {
        try await TestDatabase.run { database in
            let applied = Applied()
            var stores: [RelayStore] = []
            for number in 0..<4 { stores.append(await database.store("store-\(number)")) }
            try await withThrowingTaskGroup { group in
                for store in stores + stores {
                    group.addTask { try await store.schema.migrate([first, second]) { applied.add($0.name) } }
                }
                try await group.waitForAll()
            }
            #expect(applied.names.sorted() == [first.name, second.name])
            #expect(try await database.count("schema_migrations") == 2)
        }
    }

    @Test("pursuits stored without an environment get their purchase's")
    func environmentOfPursuits() async throws {
        try await TestDatabase.run { database in
            let store = await database.store("one")
            // Also adds the columns that today's intake writes.
            try await store.schema.migrate(Migration.all.filter { $0.number < 20 || [31, 37].contains($0.number) })
            let known = try await store.take(.sample(subscription: "1", environment: "Sandbox"))
            let orphan = try await store.take(.sample(subscription: "2", environment: "Sandbox"))
            try await database.run("UPDATE pursuits SET environment = NULL")
            try await database.run("DELETE FROM validations WHERE id = $1", .uuid(orphan.uuid))
            try await store.schema.migrate()
            let environments = try await database.column(
                "SELECT environment FROM pursuits ORDER BY subscription_key", as: String.self)
            #expect(environments == ["Sandbox", "unknown"])
            #expect(try await store.purchases.claimDue().map(\.id) == [known], "the other one is parked")
        }
    }

    @Test("an edited migration is refused if it was applied, and nothing is applied")
    func edited() async throws {
        try await TestDatabase.run { database in
            let store = await database.store("one")
            try await store.schema.migrate([first])
            let edited = Migration("0001_first", Array("CREATE TABLE first (id bigint PRIMARY KEY);".utf8))
            await #expect(throws: MigrationError.edited("0001_first")) {
                try await store.schema.migrate([edited, second])
            }
            await #expect(throws: MigrationError.edited("0001_first")) { try await store.schema.status([edited]) }
            #expect(try await database.exists("second") == false)
        }
    }

    @Test("a database that a newer version has migrated is refused, and nothing is applied")
    func unknown() async throws {
        try await TestDatabase.run { database in
            let store = await database.store("one")
            let third = Migration("0003_third", Array("CREATE TABLE third (id integer PRIMARY KEY);".utf8))
            try await store.schema.migrate([first, third])
            await #expect(throws: MigrationError.unknown(3)) { try await store.schema.migrate([first, second]) }
            await #expect(throws: MigrationError.unknown(3)) { try await store.schema.status([first, second]) }
            #expect(try await database.exists("second") == false)
            // A copy that runs during the upgrade to the next version may ignore newer migrations, but not edited ones.
            let status = try await store.schema.status([first], toleratesNewer: true)
            #expect(status.map { $0.appliedAt != nil } == [true])
            let edited = Migration("0001_first", Array("SELECT 1;".utf8))
            await #expect(throws: MigrationError.edited("0001_first")) {
                try await store.schema.status([edited], toleratesNewer: true)
            }
        }
    }

    @Test("a failing migration leaves no change, and keeps the earlier ones")
    func failing() async throws {
        try await TestDatabase.run { database in
            let store = await database.store("one")
            let broken = Migration("0002_broken", Array("CREATE TABLE half (id integer); SELECT 1 / 0;".utf8))
            let error = await postgresError { try await store.schema.migrate([first, broken]) }
            #expect(error?.sqlState == "22012")
            #expect(try await database.exists("half") == false)
            #expect(try await database.column("SELECT name FROM schema_migrations") == ["0001_first"])
            // The edited migration does not affect its replacement.
            try await store.schema.migrate([first, second])
            #expect(try await database.exists("second"))
        }
    }

    @Test("the status lists applied migrations with their times, also of an empty database")
    func status() async throws {
        try await TestDatabase.run { database in
            let store = await database.store("one")
            #expect(try await store.schema.status([first, second]).map(\.appliedAt) == [nil, nil])
            // Reading the status creates no table.
            #expect(try await database.exists("schema_migrations") == false)
            let before = try await database.now()
            try await store.schema.migrate([first])
            let status = try await store.schema.status([first, second])
            #expect(status.map(\.migration) == [first, second])
            let appliedAt = try #require(status[0].appliedAt)
            let after = try await database.now()
            #expect((before...after).contains(appliedAt))
            #expect(status[1].appliedAt == nil)
        }
    }

    @Test("a missing table is named; a schema that does not exist yet misses none")
    func missingTables() async throws {
        try await TestDatabase.run { database in
            let store = await database.store("one")
            #expect(try await store.schema.missingTables() == [])
            try await store.schema.migrate(Migration.all.filter { $0.number < 10 })
            #expect(try await store.schema.missingTables() == [])
            try await store.schema.migrate()
            #expect(try await store.schema.missingTables() == [])
            try await database.run("DROP TABLE timeline")
            #expect(try await store.schema.missingTables() == ["timeline"])
            #expect(try await store.ops.summary().missingTables == ["timeline"])
            try await database.run("DROP TABLE schema_migrations")
            #expect(try await store.schema.missingTables() == ["schema_migrations", "timeline"])
        }
    }
}

extension TestDatabase {
    fileprivate nonisolated func exists(_ table: String) async throws -> Bool {
        try await value("SELECT to_regclass($1) IS NOT NULL", .text(table))
    }
}
