import Postgres
import RelayCore

extension RelayStore {
    /// Dates are written as the session's `DateStyle` says; a bound in any other shape is not understood, and what is not
    /// understood is never dropped.
    private static let dateStyleSQL = "SELECT set_config('datestyle', 'ISO', true)"

    /// From the catalogue: no row of ours is read.
    private static let partitionsSQL = """
        SELECT t.name, c.oid::regclass::text,
               substring(pg_get_expr(c.relpartbound, c.oid) FROM 'FROM \\(''(\\d{4}-\\d\\d-\\d\\d)''\\)')::date - DATE 'epoch',
               substring(pg_get_expr(c.relpartbound, c.oid) FROM 'TO \\(''(\\d{4}-\\d\\d-\\d\\d)''\\)')::date - DATE 'epoch',
               coalesce(pg_total_relation_size(c.oid), 0), (now() AT TIME ZONE 'UTC')::date - DATE 'epoch'
        FROM unnest($1::text[]) AS t(name)
        JOIN pg_inherits i ON i.inhparent = to_regclass(t.name)
        JOIN pg_class c ON c.oid = i.inhrelid
        WHERE c.relkind = 'r'
        """

    private static func defaultSQL(_ table: PartitionedTable) -> String {
        """
        SELECT (SELECT count(*) FROM (SELECT FROM \(table.rawValue)_default LIMIT \(PartitionLook.Default.countLimit)) AS bounded),
               EXISTS (SELECT FROM \(table.rawValue)_default d WHERE d.accepted_on < DATE 'epoch' + $1::int4)
        """
    }

    /// Reads the whole of `pursuits`, which holds only what is under way; no index has the day, and none is worth its price
    /// at every claim.
    static let pursuedDaysSQL = """
        SELECT p.accepted_on - DATE 'epoch', count(*), count(*) FILTER (WHERE p.phase = 2)
        FROM pursuits p
        WHERE p.accepted_on < DATE 'epoch' + $1::int4
        GROUP BY 1
        """

    /// The same of notifications that are still to be passed on. One that Cleeng refuses has been tried for all of its time.
    static let relayedDaysSQL = """
        SELECT DISTINCT r.accepted_on - DATE 'epoch'
        FROM notification_relays r
        WHERE r.accepted_on < DATE 'epoch' + $1::int4 AND (NOT r.stands_aside OR r.parked_at IS NOT NULL)
        """

    /// The same of events that are parked. Index used: `cleeng_events_parked`.
    static let eventDaysSQL = """
        SELECT DISTINCT e.accepted_on - DATE 'epoch'
        FROM cleeng_events e
        WHERE e.parked_at IS NOT NULL AND e.accepted_on < DATE 'epoch' + $1::int4
        """

    /// The same of messages that are still to be delivered.
    static let deliveryDaysSQL = """
        SELECT DISTINCT q.accepted_on - DATE 'epoch'
        FROM webhook_queue q
        WHERE q.accepted_on < DATE 'epoch' + $1::int4
        """

    /// - Parameter policy: what counts as old; `pursuits` is looked at only where it reaches some partition.
    public func lookAtPartitions(_ policy: RetentionPolicy) async throws -> PartitionLook {
        let names = PostgresValue.textArray(PartitionedTable.allCases.map(\.rawValue))
        let rows = try await pool.withTransaction { transaction in
            try await transaction.pipeline([
                PostgresQuery(Self.dateStyleSQL), PostgresQuery(Self.partitionsSQL, [names]),
            ])[1]
        }
        var look = PartitionLook(today: 0, partitions: [], defaults: [:], pursued: [])
        for row in rows {
            look.today = try row.get(5)
            guard let table = PartitionedTable(rawValue: try row.get(0)), let from = try row.get(2, as: Int?.self),
                let to = try row.get(3, as: Int?.self), from < to
            else { continue }
            look.partitions.append(
                WeeklyPartition(table: table, name: try row.get(1), days: from..<to, bytes: try row.get(4)))
        }
        look.partitions.sort { ($0.days.lowerBound, $0.name) < ($1.days.lowerBound, $1.name) }
        for table in PartitionedTable.allCases {
            let limit = Int32(clamping: policy.firstKeptDay(of: table, today: look.today) ?? .min)
            guard let row = try await pool.query(PostgresQuery(Self.defaultSQL(table), [.int4(max(limit, 0))])).first
            else { continue }
            look.defaults[table] = .init(rows: try row.get(0), hasOld: try row.get(1))
        }
        if let limit = policy.firstDayTouched(today: look.today),
            look.partitions.contains(where: { $0.days.upperBound <= limit })
        {
            look.pursued = try await pursued(before: limit)
            look.relayedDays = try await pool.query(
                PostgresQuery(Self.relayedDaysSQL, [.int4(Int32(clamping: limit))])
            ).map { try $0.get(0) }
            look.eventDays = try await pool.query(
                PostgresQuery(Self.eventDaysSQL, [.int4(Int32(clamping: limit))])
            ).map { try $0.get(0) }
            look.deliveryDays = try await pool.query(
                PostgresQuery(Self.deliveryDaysSQL, [.int4(Int32(clamping: limit))])
            ).map { try $0.get(0) }
        }
        return look
    }

    func pursued(before day: Int) async throws -> [PartitionLook.Pursued] {
        try await pool.query(PostgresQuery(Self.pursuedDaysSQL, [.int4(Int32(clamping: day))])).map {
            PartitionLook.Pursued(day: try $0.get(0), count: try $0.get(1), parked: try $0.get(2))
        }
    }
}
