import Postgres
public import RelayCore

/// The weekly partitions, with the work that prevents dropping them.
public struct PartitionLook: Sendable {
    public struct Default: Sendable, Equatable {
        /// Rows that no weekly partition holds; counted up to ``countLimit``.
        public var rows: Int
        /// Whether some rows are past the limit.
        public var hasOld: Bool

        public static let countLimit = 10_000
    }

    /// Pursuits accepted on one day.
    public struct Pursued: Sendable, Equatable {
        public var day: Int
        public var count: Int
        /// Pursuits among them that are parked for an operator.
        public var parked: Int
    }

    /// The database's day in UTC, since 1970.
    public var today: Int
    public var partitions: [WeeklyPartition]
    public var defaults: [PartitionedTable: Default]
    /// Days that retention would remove, but that still have pursuits.
    public var pursued: [Pursued]
    /// Days with notifications that are not relayed yet.
    public var relayedDays: [Int] = []
    /// Days with undelivered messages to webhook endpoints.
    public var deliveryDays: [Int] = []
    /// Days with events that are parked.
    public var eventDays: [Int] = []

    public func plan(_ policy: RetentionPolicy) -> RetentionPlan {
        RetentionPlan(
            partitions, policy: policy, today: today, pursuedDays: pursued.map(\.day), relayedDays: relayedDays,
            deliveryDays: deliveryDays, eventDays: eventDays)
    }

    /// Whether the database's date may have jumped ahead, by which everything would be old. A running relay has made a
    /// partition for each week that it has reached. If it was stopped for weeks, a week of operation removes the doubt.
    ///
    /// A table with older partitions must have the one of last week, or of the policy's first kept day if that is later.
    public func isClockInDoubt(_ policy: RetentionPolicy) -> Bool {
        PartitionedTable.allCases.contains { table in
            guard let kept = policy.firstKeptDay(of: table, today: today) else { return false }
            let day = max(today - 7, kept)
            let own = partitions.filter { $0.table == table }.map(\.days)
            return own.contains { $0.upperBound <= day } && !own.contains { $0.contains(day) }
        }
    }

    public func pursued(in partition: WeeklyPartition) -> (count: Int, parked: Int) {
        pursued.filter { partition.days.contains($0.day) }
            .reduce((0, 0)) { ($0.0 + $1.count, $0.1 + $1.parked) }
    }

    /// First day of a table's oldest partition; nil if there is none.
    public func oldestDay(of table: PartitionedTable) -> Int? {
        partitions.filter { $0.table == table }.map(\.days.lowerBound).min()
    }
}

extension RetentionStore {
    /// - Parameter policy: determines which rows are old. `pursuits` is read only if a partition is old.
    public func lookAtPartitions(_ policy: RetentionPolicy) async throws -> PartitionLook {
        var look = try await listPartitions()
        for table in PartitionedTable.allCases {
            let limit = Int32(clamping: policy.firstKeptDay(of: table, today: look.today) ?? .min)
            look.defaults[table] = try await lookAtDefault(of: table, before: max(limit, 0))
        }
        if let limit = policy.firstDayTouched(today: look.today),
            look.partitions.contains(where: { $0.days.upperBound <= limit })
        {
            look.pursued = try await pursued(before: limit)
            // Cleeng rejects the content of a notification that stands aside, at each try. It holds no partition back.
            look.relayedDays = try await days(
                of: "notification_relays", where: "(NOT w.stands_aside OR w.parked_at IS NOT NULL)", before: limit)
            // Index used: `cleeng_events_parked`.
            look.eventDays = try await days(of: "cleeng_events", where: "w.parked_at IS NOT NULL", before: limit)
            look.deliveryDays = try await days(of: "webhook_queue", where: "true", before: limit)
        }
        return look
    }

    /// Reads only the catalog. Bounds are written according to `DateStyle`; a partition with unreadable bounds is never
    /// dropped.
    private func listPartitions() async throws -> PartitionLook {
        let tables: SQLTable = ["name": .textArray(PartitionedTable.allCases.map(\.rawValue))]
        let rows = try await database.withTransaction { transaction in
            try await transaction.pipeline([
                "SELECT set_config('datestyle', 'ISO', true)",
                """
                SELECT t.name AS parent, c.oid::regclass::text AS name,
                       substring(pg_get_expr(c.relpartbound, c.oid) FROM 'FROM \\(''(\\d{4}-\\d\\d-\\d\\d)''\\)')::date
                           - DATE 'epoch' AS first_day,
                       substring(pg_get_expr(c.relpartbound, c.oid) FROM 'TO \\(''(\\d{4}-\\d\\d-\\d\\d)''\\)')::date
                           - DATE 'epoch' AS end_day,
                       coalesce(pg_total_relation_size(c.oid), 0) AS bytes,
                       (now() AT TIME ZONE 'UTC')::date - DATE 'epoch' AS today
                FROM \(tables, as: "t")
                JOIN pg_inherits i ON i.inhparent = to_regclass(t.name)
                JOIN pg_class c ON c.oid = i.inhrelid
                WHERE c.relkind = 'r'
                """,
            ])[1]
        }
        var look = PartitionLook(today: 0, partitions: [], defaults: [:], pursued: [])
        for row in rows {
            look.today = try row.get("today")
            guard let table = PartitionedTable(rawValue: try row.get("parent")),
                let from = try row.get("first_day", as: Int?.self), let to = try row.get("end_day", as: Int?.self),
                from < to
            else { continue }
            look.partitions.append(
                WeeklyPartition(
                    table: table, name: try row.get("name"), days: from..<to, bytes: try row.get("bytes")))
        }
        look.partitions.sort { ($0.days.lowerBound, $0.name) < ($1.days.lowerBound, $1.name) }
        return look
    }

    private func lookAtDefault(of table: PartitionedTable, before day: Int32) async throws -> PartitionLook.Default? {
        let rows = SQL(unescaped: "\(table.rawValue)_default")
        return try await database.query(
            """
            SELECT (SELECT count(*) FROM (
                        SELECT FROM \(rows) LIMIT \(unescaped: "\(PartitionLook.Default.countLimit)")) AS bounded) AS rows,
                   EXISTS (SELECT FROM \(rows) d WHERE d.accepted_on < DATE 'epoch' + \(.int4(day))) AS has_old
            """
        ).first.map { .init(rows: try $0.get("rows"), hasOld: try $0.get("has_old")) }
    }

    /// Reads the whole table, which holds only unfinished work. An index on the day would cost more at each claim.
    private func pursued(before day: Int) async throws -> [PartitionLook.Pursued] {
        try await database.query(
            """
            SELECT p.accepted_on - DATE 'epoch' AS day, count(*) AS pursued,
                   count(*) FILTER (WHERE p.phase = \(Pursuit.Phase.parked)) AS parked
            FROM pursuits p
            WHERE p.accepted_on < DATE 'epoch' + \(.int4(Int32(clamping: day)))
            GROUP BY 1
            """
        ).map { .init(day: try $0.get("day"), count: try $0.get("pursued"), parked: try $0.get("parked")) }
    }

    /// Days of unfinished rows of another table.
    private func days(of table: String, where condition: SQL, before day: Int) async throws -> [Int] {
        try await database.query(
            """
            SELECT DISTINCT w.accepted_on - DATE 'epoch' AS day
            FROM \(unescaped: table) w
            WHERE w.accepted_on < DATE 'epoch' + \(.int4(Int32(clamping: day))) AND \(condition)
            """
        ).map { try $0.get("day") }
    }
}
