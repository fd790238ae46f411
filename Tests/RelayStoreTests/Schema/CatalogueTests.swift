import Postgres
import Testing

@testable import Relay

@Suite("The schema needs no more than any PostgreSQL, sharded or not, offers")
struct CatalogueTests {
    private static let hotTables = [
        "validations", "receipts", "timeline", "pursuits", "purchases", "idempotency_keys", "entitlement_reads",
        "subscriptions", "transfers", "outbox", "notifications", "notification_names", "notification_relays", "ledgers",
        "subscription_events", "cleeng_events", "customers", "webhook_deliveries", "webhook_queue",
        "external_subscriptions", "billing_customers", "orders", "contracts", "contract_subscriptions", "audit_log",
        "activity", "store_questions", "consumption_facts", "consumption_requests",
    ]

    /// Small tables with names as keys: on a sharded cluster, each node has all of their rows.
    private static let smallTables = [
        "api_keys", "console_sessions", "duties", "encryption", "encryption_keys", "instances",
        "offer_coupons", "offer_products", "offers",
        "own_accounts", "publishers",
        "schema_migrations", "store_standings", "store_sweeps", "topic_subscriptions", "webhook_endpoints",
    ]

    private static let ours = "c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')"

    @Test("every table is small, or each of its primary and unique keys begins with the bucket")
    func shardKeyLeads() async throws {
        try await withStore { database, store in
            try await store.retention.makePartitions()
            let tables = try await database.column(
                "SELECT c.relname::text FROM pg_class c WHERE \(Self.ours) AND NOT c.relispartition ORDER BY 1",
                as: String.self)
            #expect(tables == (Self.hotTables + Self.smallTables).sorted())
            let withoutKey = try await database.column(
                """
                SELECT c.relname::text FROM pg_class c
                WHERE \(Self.ours) AND NOT EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary)
                """, as: String.self)
            #expect(withoutKey == [])
            let otherwise = try await database.column(
                """
                SELECT i.indexrelid::regclass::text
                FROM pg_index i
                JOIN pg_class c ON c.oid = i.indrelid
                LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = i.indkey[0]
                WHERE \(Self.ours) AND i.indisunique AND a.attname IS DISTINCT FROM 'bucket'
                      AND c.relname <> ALL ($1)
                """, .textArray(Self.smallTables), as: String.self)
            #expect(otherwise == [])
        }
    }

    @Test("a foreign key points to a small table, or carries the bucket")
    func foreignKeysStayOnOneShard() async throws {
        try await withStore { database, _ in
            let astray = try await database.column(
                """
                SELECT f.conname::text
                FROM pg_constraint f
                JOIN pg_class target ON target.oid = f.confrelid
                JOIN pg_attribute a ON a.attrelid = f.conrelid AND a.attnum = f.conkey[1]
                WHERE f.contype = 'f' AND target.relname <> ALL ($1) AND a.attname <> 'bucket'
                """, .textArray(Self.smallTables), as: String.self)
            #expect(astray == [])
        }
    }

    @Test("all tables are logged; partitions have one level; indexes are B-trees")
    func plainStorage() async throws {
        try await withStore { database, store in
            try await store.retention.makePartitions()
            let own = "relnamespace = 'public'::regnamespace"
            #expect(try await database.count("pg_class", where: "\(own) AND relpersistence <> 'p'") == 0)
            #expect(try await database.count("pg_class", where: "\(own) AND relkind = 'p' AND relispartition") == 0)
            #expect(
                try await database.count(
                    "pg_inherits", where: "inhparent IN (SELECT oid FROM pg_class WHERE relkind = 'r')") == 0)
            #expect(
                try await database.count(
                    "pg_class",
                    where: "\(own) AND relkind = 'i' AND relam <> (SELECT oid FROM pg_am WHERE amname = 'btree')") == 0)
            #expect(try await database.count("pg_event_trigger", where: "true") == 0)
            #expect(try await database.count("pg_largeobject_metadata", where: "true") == 0)
        }
    }

    @Test(
        "has no sequences, triggers, functions, types of its own, rules, or constraints that only one server can check")
    func nothingUnportable() async throws {
        try await withStore { database, store in
            try await store.retention.makePartitions()
            let own = "relnamespace = 'public'::regnamespace"
            #expect(try await database.count("pg_class", where: "\(own) AND relkind IN ('S', 'v', 'm', 'f')") == 0)
            #expect(try await database.count("pg_trigger", where: "NOT tgisinternal") == 0)
            #expect(try await database.count("pg_proc", where: "pronamespace = 'public'::regnamespace") == 0)
            #expect(try await database.count("pg_rewrite", where: "ev_class::oid >= 16384") == 0)
            // Every table adds a composite type and its array type; any other type would be ours.
            #expect(
                try await database.count(
                    "pg_type", where: "typnamespace = 'public'::regnamespace AND typtype IN ('e', 'd', 'r', 'm')") == 0)
            #expect(try await database.count("pg_constraint", where: "contype IN ('x', 't') OR condeferrable") == 0)
            #expect(try await database.count("pg_attribute", where: "attidentity <> '' OR attgenerated <> ''") == 0)
            #expect(try await database.count("pg_extension", where: "extname <> 'plpgsql'") == 0)
        }
    }

    @Test("receipts are not compressed, also in new partitions")
    func storage() async throws {
        try await withStore { database, store in
            try await store.retention.makePartitions()
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
