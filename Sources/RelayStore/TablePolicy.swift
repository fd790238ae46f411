package import Postgres
import RelayCore

/// What a feature is to the tables.
public struct StoredFeature: Sendable {
    /// What it adds to each change of ledgers.
    package var participant: (any LedgerParticipant)?
    package var tables: TablePolicy
    /// Selects the publishers that know a subscription of Apple's by this feature, each with the time since when. Receives
    /// the subscription's key, and a condition that begins with a column of the row.
    package var publishers: Publishers?

    package typealias Publishers = @Sendable (_ key: PostgresValue, _ isThere: SQL) -> SQL

    package init(
        participant: (any LedgerParticipant)? = nil, tables: TablePolicy = TablePolicy(), publishers: Publishers? = nil
    ) {
        self.participant = participant
        self.tables = tables
        self.publishers = publishers
    }
}

/// What the relay must know of a feature's tables to seal, export, erase and remove what is in them.
package struct TablePolicy: Sendable {
    /// Tables with private columns.
    package var sealed: [PrivateColumns]
    /// Rows that may mention a customer in a text.
    package var mentions: [MentioningRows]
    /// Rows that are removed once they are old, in the order of removal.
    package var leftovers: [Leftovers]

    package init(sealed: [PrivateColumns] = [], mentions: [MentioningRows] = [], leftovers: [Leftovers] = []) {
        self.sealed = sealed
        self.mentions = mentions
        self.leftovers = leftovers
    }
}

/// Abandoned rows of one table, which are removed after `RELAY_RETENTION_DAYS`.
public struct Leftovers: Sendable, Equatable {
    public let table: String
    /// Which of them are removed, for people: `without a contract`.
    public let what: String
    /// Condition of the old rows. The first day that is kept is given.
    fileprivate let isOld: @Sendable (Int) -> SQL
    /// Removes at most ``pageSize`` rows. Answers with the numbers of rows `met` and `removed`.
    fileprivate let removal: @Sendable (_ isOld: SQL) -> SQL

    package static let pageSize: Int32 = 2_000

    package init(
        table: String, what: String, isOld: @escaping @Sendable (_ limit: SQL) -> SQL,
        removal: @escaping @Sendable (_ isOld: SQL) -> SQL
    ) {
        self.table = table
        self.what = what
        self.isOld = { day in
            isOld("(DATE 'epoch' + \(.int4(Int32(clamping: day))))::timestamp AT TIME ZONE 'UTC'")
        }
        self.removal = removal
    }

    public static func == (one: Leftovers, other: Leftovers) -> Bool { one.table == other.table }
}

extension RetentionStore {
    /// The leftovers with old rows, in the order of removal.
    ///
    /// - Parameter day: the first day that is kept.
    func leftovers(before day: Int) async throws -> [Leftovers] {
        var found: [Leftovers] = []
        for one in memory.tables.flatMap(\.leftovers) {
            let exist: SQL = "SELECT EXISTS (SELECT FROM \(unescaped: one.table) WHERE \(one.isOld(day)))"
            if try await database.query(exist).first?.get(0, as: Bool.self) == true { found.append(one) }
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
            guard let row = try await transaction.query(leftovers.removal(leftovers.isOld(day))).first else {
                return (0, false)
            }
            return (try row.get("removed"), try row.get("met", as: Int.self) == Int(Leftovers.pageSize))
        }
    }
}
