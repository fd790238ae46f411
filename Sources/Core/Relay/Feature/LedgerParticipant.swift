package import Postgres
package import RelayCore

/// What a feature adds to the transaction of every change of ledgers. It adds no round trip: its query is sent with the
/// opening's, and its statements with the closing's.
package protocol LedgerParticipant: Sendable {
    /// Reads what the feature has of these subscriptions. It runs after their owners and ledgers are locked.
    func look(for names: [SubscriptionName]) -> SQL

    /// - Parameters:
    ///   - rows: answer to ``look(for:)``.
    ///   - names: the subscriptions, in the order of the query.
    /// - Throws: ``StoreError``, ``PostgresError``; then the whole transaction fails.
    func read(_ rows: PostgresRows, of names: [SubscriptionName]) throws -> LedgerPart
}

extension StoreMemory {
    /// - Parameter answers: the participants' answers, in their order.
    func parts(_ answers: ArraySlice<PostgresRows>, of names: [SubscriptionName]) throws -> [LedgerPart] {
        try zip(participants, answers).map { try $0.read($1, of: names) }
    }
}

/// What a ``LedgerParticipant`` read for one transaction.
package struct LedgerPart: Sendable {
    /// Subscriptions of which this version cannot read what the feature has. Their statements wait for another version.
    package var troubles: [SubscriptionName: StoreError]
    /// Decides what follows from the changes of the ledgers.
    package var close: @Sendable (LedgerBatch) -> LedgerAddition

    package init(
        troubles: [SubscriptionName: StoreError], close: @escaping @Sendable (LedgerBatch) -> LedgerAddition
    ) {
        self.troubles = troubles
        self.close = close
    }
}

extension [LedgerPart] {
    /// Makes the subscriptions wait whose part cannot be read.
    ///
    /// - Parameter places: index of each subscription in `facts`.
    func mark(_ facts: inout [LedgerFacts], at places: [SubscriptionName: Int]) {
        for (name, error) in flatMap(\.troubles) { if let place = places[name] { facts[place].trouble = error } }
    }
}

/// A feature's part of a transaction's last statements.
package struct LedgerAddition: Sendable {
    package var queries: [SQL]
    /// Messages to endpoints.
    package var messages: [NewDelivery]

    package init(queries: [SQL] = [], messages: [NewDelivery] = []) {
        self.queries = queries
        self.messages = messages
    }
}
