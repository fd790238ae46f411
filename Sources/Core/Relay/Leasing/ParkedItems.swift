import Postgres

/// Number of parked rows in each queue, without purchases.
public struct ParkedItems: Sendable, Equatable {
    public var counts: [WorkQueue: Int]
    /// How long the oldest has been parked; nil if there is none.
    public var oldest: Duration?

    public init(counts: [WorkQueue: Int] = [:], oldest: Duration? = nil) {
        self.counts = counts
        self.oldest = oldest
    }

    public subscript(queue: WorkQueue) -> Int { counts[queue] ?? 0 }
}

extension QueueStore {
    /// Indexes used: `…_parked` of each table.
    public func parked(in scope: OpsScope) async throws -> ParkedItems {
        let queues = WorkQueue.allCases.map { queue in
            """
            SELECT '\(unescaped: queue.rawValue)' AS queue, count(*) AS parked,
                   (extract(epoch FROM now() - min(q.parked_at)) * 1000000)::int8 AS age
            FROM \(unescaped: queue.form.table) q
            WHERE q.parked_at IS NOT NULL AND \(scope.includes(queue.form.publisher))
            """ as SQL
        }
        var parked = ParkedItems()
        for row in try await database.query(queues.dropFirst().reduce(queues[0]) { "\($0) UNION ALL \($1)" }) {
            guard let queue = WorkQueue(rawValue: try row.get("queue")) else { continue }
            parked.counts[queue] = try row.get("parked")
            let age = try row.get("age", as: Int64?.self).map { Duration.microseconds($0) }
            parked.oldest = [parked.oldest, age].compactMap(\.self).max()
        }
        return parked
    }
}
