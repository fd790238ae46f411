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
