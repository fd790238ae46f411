import Postgres
import RelayCore

extension RelayStore {
    private static let addActivitySQL = """
        INSERT INTO activity AS a (bucket, minute, kind, count)
        SELECT $1, date_trunc('minute', now()), kind, count
        FROM unnest($2::int2[], $3::int8[]) AS i(kind, count)
        ORDER BY kind
        ON CONFLICT (bucket, minute, kind) DO UPDATE SET count = a.count + excluded.count
        """

    /// Steps are counted back from the end of the present one. Index used: `activity_minute`.
    private static let activitySQL = """
        WITH axis AS (
            SELECT date_bin($1::int8 * interval '1 microsecond', now(), TIMESTAMPTZ '2020-01-01')
                   - ($2::int4 - 1) * $1::int8 * interval '1 microsecond' AS start
        )
        SELECT axis.start, a.kind,
               (extract(epoch FROM a.minute - axis.start) * 1000000)::int8 / $1::int8 AS step, sum(a.count)::int8
        FROM axis
        LEFT JOIN activity a ON a.minute >= axis.start AND a.minute <= now()
        GROUP BY 1, 2, 3
        """

    private static let pruneActivitySQL = """
        DELETE FROM activity a
        USING (
            SELECT bucket, minute, kind FROM activity WHERE minute < now() - interval '14 days' ORDER BY minute LIMIT 5000
        ) AS old
        WHERE a.bucket = old.bucket AND a.minute = old.minute AND a.kind = old.kind
        """

    /// Adds what this copy has counted since it last did, to the present minute.
    public func add(_ counts: [ActivityKind: Int]) async throws {
        let counts = counts.filter { $0.value > 0 }
        guard !counts.isEmpty else { return }
        _ = try await pool.query(
            PostgresQuery(
                Self.addActivitySQL,
                [
                    .int2(Int16(Bucket(of: instance).number)), .int2Array(counts.map(\.key.rawValue)),
                    .int8Array(counts.map { Int64($0.value) }),
                ]))
    }

    /// Nil in the scope of a publisher: what is counted is not told apart by publishers.
    ///
    /// - Parameter steps: how many, the present one included.
    public func activity(step: Duration, steps: Int, in scope: OpsScope) async throws -> ActivitySeries? {
        guard scope.isAll else { return nil }
        let rows = try await pool.query(
            PostgresQuery(Self.activitySQL, [.int8(step.microseconds), .int4(Int32(clamping: steps))]))
        guard let first = rows.first else { throw StoreError.missingRow("the activity") }
        var series = ActivitySeries(start: try first.timestamp(0), step: step, counts: [:])
        for row in rows {
            guard let kind = try row.get(1, as: Int16?.self).flatMap(ActivityKind.init(rawValue:)) else { continue }
            let place = try row.get(2, as: Int.self)
            guard (0..<steps).contains(place) else { continue }
            series.counts[kind, default: Array(repeating: 0, count: steps)][place] += min(
                max(try row.get(3, as: Int.self), 0), 1 << 40)
        }
        return series
    }

    /// Forgets what is older than two weeks, a bounded number of rows at a time.
    ///
    /// - Returns: how many.
    public func pruneActivity() async throws -> Int {
        try await pool.query(PostgresQuery(Self.pruneActivitySQL)).affectedRows
    }
}
