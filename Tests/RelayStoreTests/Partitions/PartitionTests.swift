import Postgres
import RelayCore
import Testing

@testable import Relay

@Suite("Weekly partitions")
struct PartitionTests {
    private func partitions(of table: String, in database: TestDatabase) async throws -> [String] {
        try await database.column(
            """
            SELECT c.relname::text
            FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
            WHERE i.inhparent = $1::text::regclass
            ORDER BY 1
            """, .text(table))
    }

    @Test("are made for this week and the next three, and existing ones stay unchanged")
    func make() async throws {
        try await withStore { database, store in
            try await store.retention.makePartitions()
            let mondays: [String] = try await database.column(
                """
                SELECT to_char(date_trunc('week', now() AT TIME ZONE 'UTC') + n * interval '7 days', 'YYYYMMDD')
                FROM generate_series(0, 3) AS n
                """)
            for table in RetentionStore.partitionedTables {
                let expected = mondays.map { "\(table)_\($0)" } + ["\(table)_default"]
                #expect(try await partitions(of: table, in: database) == expected)
            }
            let before = try await database.column("SELECT oid::int8 FROM pg_class ORDER BY 1", as: Int.self)
            try await store.retention.makePartitions()
            #expect(try await database.column("SELECT oid::int8 FROM pg_class ORDER BY 1", as: Int.self) == before)
        }
    }

    @Test("can be made by several copies at once, and none fails", arguments: 1...3)
    func concurrently(round: Int) async throws {
        try await withStores(4) { database, stores in
            try await withThrowingTaskGroup { group in
                for store in stores { group.addTask { try await store.retention.makePartitions() } }
                try await group.waitForAll()
            }
            // A copy that yielded to another may have left a later week to the next round.
            try await stores[0].retention.makePartitions()
            for table in RetentionStore.partitionedTables {
                #expect(try await partitions(of: table, in: database).count == 5)
            }
        }
    }

    @Test("contain the rows of their weeks, and every query finds them")
    func rows() async throws {
        try await withStore { database, store in
            try await store.retention.makePartitions()
            let id = try await store.takeAndGrant(.sample())
            try await Notices(store: store, database: database).come("SUBSCRIBED", said: 0)
            _ = try await store.events.receive(topic: "t", body: [1], now: try await database.now())
            try await database.run(
                """
                INSERT INTO webhook_deliveries (bucket, accepted_on, id, created_at, sequence, endpoint, publisher, lane, body)
                VALUES (0, (now() AT TIME ZONE 'UTC')::date, gen_random_uuid(), now(), 1, 'e', 'main', 'u', '{}')
                """)
            for table in RetentionStore.partitionedTables {
                let holders = try await database.column(
                    "SELECT DISTINCT tableoid::regclass::text FROM \(table)", as: String.self)
                #expect(holders == (try await partitions(of: table, in: database).prefix(1).map { $0 }))
                #expect(try await database.count("\(table)_default") == 0)
            }
            #expect(try await store.status(of: id) == .granted)
            #expect(try await store.purchases.purchase(id, by: .receipt).receipt?.bytes.value.isEmpty == false)
        }
    }

    @Test("are not made if the default partition has their rows; those stay, and nothing fails")
    func rowsInDefault() async throws {
        try await withStore { database, store in
            let before = try await store.takeAndGrant(.sample(subscription: "1"))
            try await Notices(store: store, database: database).come("SUBSCRIBED", said: 0)
            _ = try await store.events.receive(topic: "t", body: [1], now: try await database.now())
            try await database.run(
                """
                INSERT INTO webhook_deliveries (bucket, accepted_on, id, created_at, sequence, endpoint, publisher, lane, body)
                VALUES (0, (now() AT TIME ZONE 'UTC')::date, gen_random_uuid(), now(), 1, 'e', 'main', 'u', '{}')
                """)
            try await store.retention.makePartitions()
            for table in RetentionStore.partitionedTables {
                // The partitions of the next three weeks and of this one.
                #expect(try await partitions(of: table, in: database).count == 4)
            }
            let after = try await store.takeAndGrant(.sample(subscription: "2"))
            #expect(try await store.status(of: before) == .granted)
            #expect(try await store.status(of: after) == .granted)
            #expect(try await database.count("validations_default") == 2)
        }
    }

    @Test("leave space in their pages like the default partition, so settled rows are updated in place")
    func fillFactor() async throws {
        try await withStore { database, store in
            try await store.retention.makePartitions()
            let options = try await database.column(
                "SELECT coalesce(reloptions::text, '') FROM pg_class WHERE relname ~ '^validations_(2|default)' AND relkind = 'r'",
                as: String.self)
            #expect(options.count == 5)
            #expect(Set(options) == ["{fillfactor=85}"])
        }
    }
}
