import Formats
import Postgres
public import RelayCore

/// Events counted for charts. The numbers are stored.
public enum ActivityKind: Int16, Sendable, CaseIterable {
    case accepted = 0
    case granted = 1
    case rejected = 2
    case timedOut = 3
    /// Calls to Cleeng that succeeded.
    case upstreamAnswered = 4
    /// Calls to Cleeng that failed.
    case upstreamFailed = 5
    case webhooksDelivered = 6
    case webhooksFailed = 7
    case notifications = 8
}

/// Counts of events in equal time steps up to now.
public struct ActivitySeries: Sendable {
    /// Start of the first step.
    public var start: Timestamp
    public var step: Duration
    /// One count for each step. A kind without events is missing.
    public var counts: [ActivityKind: [Int]]

    public init(start: Timestamp, step: Duration, counts: [ActivityKind: [Int]]) {
        self.start = start
        self.step = step
        self.counts = counts
    }
}

extension ActivityStore {
    /// Adds this copy's counts since the last call to the current minute.
    public func add(_ counts: [ActivityKind: Int]) async throws {
        let counts = counts.filter { $0.value > 0 }
        guard !counts.isEmpty else { return }
        let table: SQLTable = [
            "kind": .int2Array(counts.map(\.key.rawValue)), "count": .int8Array(counts.map { Int64($0.value) }),
        ]
        _ = try await database.query(
            """
            INSERT INTO activity AS a (bucket, minute, kind, count)
            SELECT \(.int2(Int16(Bucket(of: memory.instance).number))), date_trunc('minute', now()), kind, count
            FROM \(table, as: "i")
            ORDER BY kind
            ON CONFLICT (bucket, minute, kind) DO UPDATE SET count = a.count + excluded.count
            """)
    }

    /// Counts by step, up to the end of the current minute's step. Nil in a publisher's scope, because counts are not
    /// kept by publisher. Index used: `activity_minute`.
    ///
    /// - Parameter steps: number of steps, including the current one.
    public func list(step: Duration, steps: Int, in scope: OpsScope) async throws -> ActivitySeries? {
        guard scope.isAll else { return nil }
        let rows = try await database.query(
            """
            WITH axis AS (
                SELECT date_bin(\(step), now(), TIMESTAMPTZ '2020-01-01')
                       - (\(.int4(Int32(clamping: steps))) - 1) * \(step) AS start
            )
            SELECT axis.start, a.kind,
                   (extract(epoch FROM a.minute - axis.start) * 1000000)::int8 / \(.int8(step.microseconds)) AS step,
                   sum(a.count)::int8 AS count
            FROM axis
            LEFT JOIN activity a ON a.minute >= axis.start AND a.minute <= now()
            GROUP BY 1, 2, 3
            """)
        guard let first = rows.first else { throw StoreError.missingRow("the activity") }
        var series = ActivitySeries(start: try first.timestamp("start"), step: step, counts: [:])
        for row in rows {
            guard let kind = try row.get("kind", as: Int16?.self).flatMap(ActivityKind.init(rawValue:)) else {
                continue
            }
            let place = try row.get("step", as: Int.self)
            guard (0..<steps).contains(place) else { continue }
            series.counts[kind, default: Array(repeating: 0, count: steps)][place] += min(
                max(try row.get("count", as: Int.self), 0), 1 << 40)
        }
        return series
    }

    /// Deletes rows older than two weeks, a bounded number at a time.
    ///
    /// - Returns: how many were deleted.
    public func prune() async throws -> Int {
        try await database.query(
            """
            DELETE FROM activity a
            USING (
                SELECT bucket, minute, kind FROM activity WHERE minute < now() - interval '14 days'
                ORDER BY minute LIMIT 5000
            ) AS old
            WHERE a.bucket = old.bucket AND a.minute = old.minute AND a.kind = old.kind
            """
        ).affectedRows
    }
}
