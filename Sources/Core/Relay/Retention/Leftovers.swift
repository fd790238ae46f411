package import Postgres
import RelayCore

/// Abandoned rows of one table, which are removed after `RELAY_RETENTION_DAYS`.
public struct Leftovers: Sendable, Equatable {
    public let table: String
    /// Which of them are removed, for people: `without a contract`.
    public let what: String
    private let isAbandoned: SQL
    private let age: SQL
    private let removal: SQL

    private static let pageSize: Int32 = 2_000

    /// - Parameters:
    ///   - table: has a primary key of `bucket` and `id`.
    ///   - isAbandoned: condition of the rows, but for their age.
    ///   - age: the column that the retention counts from.
    ///   - removal: removes the rows whose `bucket` and `id` are in `page`, and answers with the numbers of rows `met` and
    ///     `removed`. It begins with further common table expressions or with the statement itself.
    package init(table: String, what: String, where isAbandoned: SQL, age: SQL, removal: SQL) {
        self.table = table
        self.what = what
        self.isAbandoned = isAbandoned
        self.age = age
        self.removal = removal
    }

    public static func == (one: Leftovers, other: Leftovers) -> Bool { one.table == other.table }

    /// - Parameter day: the first day that is kept.
    private func areOld(before day: Int) -> SQL {
        let limit: SQL = "(DATE 'epoch' + \(.int4(Int32(clamping: day))))::timestamp AT TIME ZONE 'UTC'"
        return "(\(isAbandoned)) AND \(age) < \(limit)"
    }

    fileprivate func exist(before day: Int) -> SQL {
        "SELECT EXISTS (SELECT FROM \(unescaped: table) WHERE \(areOld(before: day)))"
    }

    /// Skips rows that another transaction locks. The conditions are checked again under the lock, so that rows used in
    /// the meantime stay.
    fileprivate func removal(before day: Int) -> SQL {
        """
        WITH page AS MATERIALIZED (
            SELECT bucket, id FROM \(unescaped: table) WHERE \(areOld(before: day))
            ORDER BY \(age)
            LIMIT \(.int4(Self.pageSize))
            FOR UPDATE SKIP LOCKED
        )\(removal)
        """
    }

    fileprivate func mayHaveMore(after met: Int) -> Bool { met == Int(Self.pageSize) }
}

extension RetentionStore {
    /// The leftovers with old rows, in the order of removal.
    ///
    /// - Parameter day: the first day that is kept.
    func leftovers(before day: Int) async throws -> [Leftovers] {
        var found: [Leftovers] = []
        for one in memory.tables.flatMap(\.leftovers) {
            let rows = try await database.query(one.exist(before: day))
            if try rows.first?.get(0, as: Bool.self) == true { found.append(one) }
        }
        return found
    }

    /// Removes the next page.
    ///
    /// - Returns: how many rows were removed, and whether there may be more.
    func remove(
        _ leftovers: Leftovers, before day: Int, under duty: Duty
    ) async throws -> (count: Int, hasMore: Bool) {
        try await database.withTransaction(timeout: .seconds(30)) { transaction in
            try await relay.duties.keep(duty, in: transaction)
            guard let row = try await transaction.query(leftovers.removal(before: day)).first else {
                return (0, false)
            }
            return (try row.get("removed"), leftovers.mayHaveMore(after: try row.get("met")))
        }
    }
}
