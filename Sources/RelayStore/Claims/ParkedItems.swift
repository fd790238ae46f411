import Postgres

/// How many rows of each queue wait for an operator, purchases apart.
public struct ParkedItems: Sendable, Equatable {
    public var counts: [WorkQueue: Int]
    /// For how long the first of them has been parked; nil where there is none.
    public var oldest: Duration?

    public init(counts: [WorkQueue: Int] = [:], oldest: Duration? = nil) {
        self.counts = counts
        self.oldest = oldest
    }

    public subscript(queue: WorkQueue) -> Int { counts[queue] ?? 0 }
    public var total: Int { counts.values.reduce(0, +) }
}

extension RelayStore {
    /// Indexes used: `…_parked` of each table.
    private static let parkedItemsSQL = WorkQueue.allCases.map { queue in
        """
        SELECT '\(queue.rawValue)', count(*), (extract(epoch FROM now() - min(q.parked_at)) * 1000000)::int8
        FROM \(queue.table) q WHERE q.parked_at IS NOT NULL AND \(OpsScope.sql(queue.publisher, 1))
        """
    }.joined(separator: " UNION ALL ")

    public func parkedItems(in scope: OpsScope) async throws -> ParkedItems {
        var parked = ParkedItems()
        for row in try await pool.query(PostgresQuery(Self.parkedItemsSQL, [scope.parameter])) {
            guard let queue = WorkQueue(rawValue: try row.get(0)) else { continue }
            parked.counts[queue] = try row.get(1)
            let age = try row.get(2, as: Int64?.self).map { Duration.microseconds($0) }
            parked.oldest = [parked.oldest, age].compactMap(\.self).max()
        }
        return parked
    }
}
