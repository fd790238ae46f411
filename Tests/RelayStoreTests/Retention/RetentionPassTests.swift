import Postgres
import RelayCore
import Testing

@testable import Relay

@Suite("Retention drops whole weeks")
struct RetentionPassTests {
    /// Weeks of 500, 100 and 0 days ago, each with a granted purchase.
    private func threeAges(
        _ database: TestDatabase, _ store: RelayStore
    ) async throws -> (old: ValidationID, middle: ValidationID, young: ValidationID) {
        try await store.retention.makePartitions()
        for days in [500, 100] { try await database.makeWeek(daysAgo: days) }
        var ids: [ValidationID] = []
        for (number, days) in [500, 100, 0].enumerated() {
            let key = Acceptance.IdempotencyKey.sample("key-\(number)", body: "b")
            let id = try await store.takeAndGrant(
                .sample(customer: "c\(number)@example.test", subscription: "\(number)", idempotencyKey: key))
            ids.append(try await database.age(id, days: days))
        }
        return (ids[0], ids[1], ids[2])
    }

    @Test("drops receipts after 90 days, other rows after 400, and no owner")
    func drops() async throws {
        try await withStore { database, store in
            let ids = try await threeAges(database, store)
            let told = try await Passes.run(store)
            #expect(told.dropped == PartitionedTable.allCases + [.receipts, .webhookDeliveries])
            #expect(told.all.contains { if case .forgotten(_, validations: 1) = $0 { true } else { false } })
            #expect(try await database.pastWeeks(of: .validations) == 1)
            #expect(try await database.pastWeeks(of: .timeline) == 1)
            #expect(try await database.pastWeeks(of: .receipts) == 0)
            #expect(try await store.purchases.validation(ids.old) == nil)
            #expect(try await store.status(of: ids.middle) == .granted)
            #expect(try await store.status(of: ids.young) == .granted)
            for table in ["validations", "purchases"] {
                #expect(try await database.count(table) == 2, "\(table)")
            }
            #expect(try await database.count("receipts") == 1)
            #expect(try await database.count("subscriptions") == 3)
            // The list and the summary still work.
            #expect(
                try await store.ops.validations(matching: ValidationFilter()).items.map(\.id) == [
                    ids.young, ids.middle,
                ])
            #expect(try await store.ops.summary().countsByStatus == [.granted: 2])
            #expect(try await store.ops.detail(ids.middle)?.timeline.count == 4)
            #expect(try await Passes.run(store).all.isEmpty)
        }
    }

    @Test("a dry run reports the same and drops nothing")
    func dryRun() async throws {
        try await withStore { database, store in
            _ = try await threeAges(database, store)
            let told = try await Passes.run(store, isDryRun: true)
            let would = told.all.compactMap { if case .wouldDrop(let partition) = $0 { partition } else { nil } }
            #expect(would.map(\.table) == PartitionedTable.allCases + [.receipts, .webhookDeliveries])
            #expect(would.allSatisfy { $0.bytes > 0 && $0.days.count == 7 })
            #expect(try await database.count("validations") == 3)
            #expect(try await database.count("purchases") == 3)
            #expect(try await database.value("SELECT fence FROM duties", as: Int.self) == 0)
        }
    }

    /// Remaining work for the old purchase.
    enum Left: CaseIterable { case waiting, watched, claimed, parked }

    @Test(
        "a week with an unanswered purchase is kept with its receipts, and reported",
        arguments: Left.allCases)
    func heldBack(left: Left) async throws {
        try await withStore { database, store in
            try await store.retention.makePartitions()
            try await database.makeWeek(daysAgo: 500)
            let claimed = try await store.takeAndClaim(.sample())
            switch left {
            case .waiting: try await store.write(claimed.failed(retryAt: claimed.pursuit.deadline))
            case .watched: try await store.write(claimed.watching(until: claimed.pursuit.deadline))
            case .claimed: break
            case .parked: try await store.purchases.park(claimed, why: "test")
            }
            let id = try await database.age(claimed.id, days: 500)
            let told = try await Passes.run(store)
            #expect(told.heldBack == [.receipts, .timeline, .validations])
            #expect(told.dropped == [.notifications, .subscriptionEvents, .cleengEvents, .webhookDeliveries])
            guard case .heldBack(_, 1, left == .parked ? 1 : 0) = told.all[0] else {
                Issue.record("\(told.all)")
                return
            }
            #expect(try await store.purchases.validation(id)?.status == .timedOut)
            #expect(try await store.purchases.purchase(id, by: .receipt).receipt?.bytes.value.isEmpty == false)
            // Once Cleeng has answered or an operator has abandoned it, the week is dropped. A purchase that is being
            // sent stays.
            if left == .claimed { try await database.makeDue(id) }
            try await store.ops.abandon(id, by: "ops", reason: "too old")
            #expect(try await Passes.run(store).dropped == [.receipts, .timeline, .validations])
        }
    }

    @Test(
        "a week with an unsent notification is kept for notifications; a refused one holds nothing back"
    )
    func relayedWeek() async throws {
        try await withStore { database, store in
            try await store.retention.makePartitions()
            try await database.makeWeek(daysAgo: 500)
            try await Notices(store: store, database: database).come("SUBSCRIBED", said: 0)
            for table in ["notifications", "notification_relays"] {
                try await database.run("UPDATE \(table) SET accepted_on = accepted_on - 500")
            }
            let told = try await Passes.run(store)
            #expect(told.heldBack == [.notifications])
            #expect(told.dropped == PartitionedTable.allCases.filter { $0 != .notifications })
            try await database.run("UPDATE notification_relays SET stands_aside = true")
            #expect(try await Passes.run(store).dropped == [.notifications])
        }
    }

    @Test("a retry before the drop holds the week back; a later one finds nothing")
    func retryMeetsDrop() async throws {
        try await withStores(2) { database, stores in
            try await stores[0].retention.makePartitions()
            try await database.makeWeek(daysAgo: 500)
            let claimed = try await stores[0].takeAndClaim(.sample())
            try await stores[0].write(claimed.rejected())
            let id = try await database.age(claimed.id, days: 500)
            // An operator's transaction has read the validation and not committed yet.
            let told = ToldSteps()
            try await database.hand.withTransaction(timeout: .seconds(180)) { transaction in
                _ = try await transaction.query(SQL("SELECT FROM duties FOR SHARE"))
                Task { try await Passes.pass(stores[0]).run { told.add($0) } }
                try await database.waitUntilBlocked()
                _ = try await transaction.query(
                    SQL(
                        """
                        INSERT INTO pursuits (bucket, id, accepted_on, due_at, accepted_at, deadline, publisher,
                            subscription_key, customer)
                        SELECT bucket, id, accepted_on, now(), accepted_at, deadline, publisher, subscription_key, customer
                        FROM validations
                        """))
            }
            try await eventually { told.heldBack.count == 3 }
            #expect(!told.dropped.contains(.validations))
            #expect(try await database.count("validations") == 1)
            try await database.run("DELETE FROM pursuits")
            try await eventually {
                try await Passes.run(stores[1])
                return try await database.count("validations") == 0
            }
            await #expect(throws: OpsRefusal.unknown) { try await stores[1].ops.retry(id, by: "ops", reason: "late") }
        }
    }

    @Test("many old validations are dropped in pages; another copy continues an interrupted pass")
    func pages() async throws {
        try await withStores(2) { database, stores in
            try await stores[0].retention.makePartitions()
            try await database.makeWeek(daysAgo: 500)
            let id = try await database.age(try await stores[0].takeAndGrant(.sample()), days: 500)
            let others = Int(PointerPage.size) * 2 + 500
            try await database.run(
                """
                INSERT INTO validations SELECT (r).* FROM (
                    SELECT jsonb_populate_record(v, jsonb_build_object('id', gen_random_uuid(), 'bucket', n % 256, 'owner_no', NULL,
                        'purchase_key', '\\x' || encode(sha256(n::text::bytea), 'hex'))) AS r
                    FROM validations v, generate_series(1, \(others)) AS n) AS rows
                """)
            try await database.run(
                """
                INSERT INTO purchases SELECT get_byte(purchase_key, 0), purchase_key, bucket, accepted_on, id, deadline, 1
                FROM validations WHERE id <> $1
                """, .uuid(id.uuid))
            #expect(try await database.count("purchases") == others + 1)
            var passes = 0
            var forgotten: [Int] = []
            var left: [Int] = []
            while try await database.count("validations") > 0, passes < 20 {
                let told = ToldSteps()
                try await Passes.pass(stores[passes % 2], budget: .zero).run { told.add($0) }
                for step in told.all { if case .forgotten(_, let count) = step { forgotten.append(count) } }
                left.append(try await database.count("purchases"))
                passes += 1
            }
            // No page was processed twice: the position is stored with the page's commit.
            #expect(forgotten == [2_000, 2_000, 501])
            #expect(left.last == 0)
            #expect(left == left.sorted(by: >=))
            #expect(try await database.pastWeeks(of: .validations) == 0)
        }
    }

    @Test("rows in the default partition are deleted one by one, except with a pursuit")
    func defaultPartition() async throws {
        try await withStore { database, store in
            // No weekly partition exists, so all rows are in the default partition.
            let pursued = try await store.takeAndClaim(.sample(subscription: "1"))
            try await store.write(pursued.watching(until: pursued.pursuit.deadline + .seconds(9_000)))
            let old = try await store.takeAndGrant(.sample(customer: "old@example.test", subscription: "2"))
            let middle = try await store.takeAndGrant(.sample(customer: "middle@example.test", subscription: "3"))
            let young = try await store.takeAndGrant(.sample(customer: "young@example.test", subscription: "4"))
            let ids = [
                try await database.age(pursued.id, days: 500), try await database.age(old, days: 500),
                try await database.age(middle, days: 100), young,
            ]
            let told = try await Passes.run(store)
            #expect(
                told.all == [
                    .clearedDefault(.receipts, rows: 2), .clearedDefault(.timeline, rows: 3),
                    .clearedDefault(.validations, rows: 1),
                ])
            let kept = try await store.purchases.validations(ids).map(\.id)
            #expect(Set(kept) == [ids[0], ids[2], ids[3]])
            #expect(try await database.count("receipts") == 2)
            #expect(try await database.count("purchases") == 3)
            #expect(try await store.purchases.purchase(ids[0], by: .receipt).offerID.isEmpty == false)
        }
    }

    @Test("a partition that the server refuses to drop is reported; all others are dropped")
    func refused() async throws {
        try await withStore { database, store in
            _ = try await threeAges(database, store)
            let look = try await store.retention.lookAtPartitions(Passes.policy)
            let stuck = try #require(look.partitions.first { $0.table == .receipts })
            try await database.run("CREATE VIEW report AS SELECT * FROM \(stuck.name)")
            let told = ToldSteps()
            // The look comes before the first step.
            try await Passes.pass(store).run(onLook: { _ in #expect(told.all.isEmpty) }, report: { told.add($0) })
            #expect(told.failed == [stuck])
            #expect(
                told.dropped == PartitionedTable.allCases.filter { $0 != .receipts } + [.receipts, .webhookDeliveries])
            #expect(try await Passes.run(store).all.count == 1)
            try await database.run("DROP VIEW report")
            #expect(try await Passes.run(store).dropped == [.receipts])
        }
    }

    /// Timeline: the relay has run for years; the database's clock jumps ahead by more than four weeks.
    @Test("while one table has no partition of last week, nothing is removed")
    func clockInDoubt() async throws {
        try await withStore { database, store in
            _ = try await threeAges(database, store)
            let lastWeek: String = try await database.value(
                "SELECT to_char(date_trunc('week', (now() AT TIME ZONE 'UTC')::date - 7), 'YYYYMMDD')")
            try await database.run("DROP TABLE timeline_\(lastWeek)")
            for isDryRun in [true, false] {
                let told = try await Passes.run(store, isDryRun: isDryRun)
                let today: Int = try await database.value("SELECT (now() AT TIME ZONE 'UTC')::date - DATE 'epoch'")
                #expect(told.all == [.clockInDoubt(today: today)])
            }
            #expect(try await database.count("validations") == 3)
            try await database.makeWeek(daysAgo: 7)
            #expect(try await Passes.run(store).dropped.count == PartitionedTable.allCases.count + 2)
        }
    }

    @Test("a short retention that has dropped last week leaves no doubt; a young installation neither")
    func noDoubt() {
        let monday = 20_003
        func look(_ today: Int, _ weeks: [Int]) -> PartitionLook {
            PartitionLook(
                today: today,
                partitions: weeks.map {
                    WeeklyPartition(table: .receipts, name: "\($0)", days: $0..<$0 + 7, bytes: 0)
                }, defaults: [:], pursued: [])
        }
        let short = RetentionPolicy(days: 400, receiptDays: 1)
        for today in monday..<monday + 7 {
            #expect(!look(today, [monday]).isClockInDoubt(Passes.policy))
            #expect(!look(today, [monday - 7, monday]).isClockInDoubt(Passes.policy))
            #expect(look(today, [monday - 14, monday]).isClockInDoubt(Passes.policy))
            #expect(look(today, [monday - 14, monday - 7]).isClockInDoubt(short) == (today > monday))
            #expect(!look(today, [monday - 14, monday - 7, monday]).isClockInDoubt(short))
            #expect(!look(today, today > monday ? [monday] : [monday - 7, monday]).isClockInDoubt(short))
        }
    }

    @Test("with a retention of 0 days nothing is dropped")
    func forEver() async throws {
        try await withStore { database, store in
            _ = try await threeAges(database, store)
            let told = ToldSteps()
            let policy = RetentionPolicy(days: 0, receiptDays: 0)
            try await RetentionPass(store: store, policy: policy, budget: nil).run { told.add($0) }
            #expect(told.all.isEmpty)
            #expect(try await database.count("receipts") == 3)
        }
    }

    @Test("a partition with unreadable bounds is left")
    func foreignPartition() async throws {
        try await withStore { database, store in
            try await database.run(
                "CREATE TABLE validations_ancient PARTITION OF validations FOR VALUES FROM (MINVALUE) TO ('2001-01-01')"
            )
            try await database.run("ALTER DATABASE \(database.name) SET datestyle = 'SQL, DMY'")
            let other = await database.store("of another session")
            try await database.makeWeek(daysAgo: 500)
            #expect(try await Passes.run(other).dropped == PartitionedTable.allCases)
            #expect(try await database.count("pg_class", where: "relname = 'validations_ancient'") == 1)
        }
    }
}
