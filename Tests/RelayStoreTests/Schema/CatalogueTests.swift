import Postgres
import Testing

@testable import RelayStore

@Suite("The schema keeps to what every PostgreSQL, sharded or not, can do")
struct CatalogueTests {
    private static let hotTables = [
        "validations", "receipts", "timeline", "pursuits", "purchases", "idempotency_keys", "entitlement_reads",
        "subscriptions", "transfers", "outbox",
    ]

    @Test("every unique index of a hot table begins with the bucket", arguments: hotTables)
    func shardKeyLeads(table: String) async throws {
        try await withStore { database, _ in
            let leading = try await database.column(
                """
                SELECT a.attname::text
                FROM pg_index i
                JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
                WHERE i.indrelid = $1::text::regclass AND i.indisunique
                """, .text(table), as: String.self)
            #expect(!leading.isEmpty)
            #expect(leading.allSatisfy { $0 == "bucket" })
        }
    }

    @Test("a table that is not known as hot has no bucket, so that none is forgotten here")
    func allAreKnown() async throws {
        try await withStore { database, store in
            let bucketed = try await database.column(
                """
                SELECT c.relname::text
                FROM pg_class c
                JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'bucket'
                WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
                """, as: String.self)
            #expect(bucketed.sorted() == Self.hotTables.sorted())
        }
    }

    @Test(
        "has no sequences, triggers, functions, types of its own, rules, or constraints that only one server can check")
    func nothingUnportable() async throws {
        try await withStore { database, store in
            try await store.makePartitions()
            let own = "relnamespace = 'public'::regnamespace"
            #expect(try await database.count("pg_class", where: "\(own) AND relkind IN ('S', 'v', 'm', 'f')") == 0)
            #expect(try await database.count("pg_trigger", where: "NOT tgisinternal") == 0)
            #expect(try await database.count("pg_proc", where: "pronamespace = 'public'::regnamespace") == 0)
            #expect(try await database.count("pg_rewrite", where: "ev_class::oid >= 16384") == 0)
            // Every table brings a composite type and its array; anything else would be ours.
            #expect(
                try await database.count(
                    "pg_type", where: "typnamespace = 'public'::regnamespace AND typtype IN ('e', 'd', 'r', 'm')") == 0)
            #expect(try await database.count("pg_constraint", where: "contype IN ('x', 't') OR condeferrable") == 0)
            #expect(try await database.count("pg_attribute", where: "attidentity <> '' OR attgenerated <> ''") == 0)
            #expect(try await database.count("pg_extension", where: "extname <> 'plpgsql'") == 0)
        }
    }

    @Test("receipts are not compressed, in new partitions neither")
    func storage() async throws {
        try await withStore { database, store in
            try await store.makePartitions()
            let storage = try await database.column(
                """
                SELECT a.attstorage::text
                FROM pg_class c
                JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'body'
                WHERE c.relname LIKE 'receipts%' AND c.relkind IN ('r', 'p')
                """, as: String.self)
            #expect(storage.count >= 6)
            #expect(storage.allSatisfy { $0 == "e" })
        }
    }
}
