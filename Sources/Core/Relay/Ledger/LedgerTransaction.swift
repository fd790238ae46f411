package import Postgres
package import RelayCore

/// Records statements about subscriptions and all their consequences, in one transaction with two round trips:
///
///     opening   locks the owner, then the ledger; reads the purchases' periods, and what features have (``LedgerParticipant``)
///     closing   writes the ledger, its timeline, changes of granted access, and messages to the publisher
///
/// Every change of a subscription's owner or of access granted on it locks the owner's row first. Settlements do the
/// same (``Ownership``), so they cannot deadlock. Only a move may deadlock, since it inserts an owner's row; the server
/// then aborts one transaction, and it is retried.
package struct LedgerTransaction: Sendable {
    let memory: StoreMemory
    private let terms: LedgerChange.Terms
    /// Sorted by key, the lock order.
    let messages: [LedgerMessage]

    /// - Parameters:
    ///   - messages: one for each subscription; if there are several, the first counts.
    ///   - asks: whether the caller asks the questions that are then open.
    ///   - asksFor: time in which it must have asked them.
    package init(
        _ messages: [LedgerMessage], memory: StoreMemory, asks: Bool = false,
        asksFor: Duration = .seconds(60)
    ) {
        self.memory = memory
        terms = LedgerChange.Terms(leeway: memory.leeway, asks: asks, asksFor: asksFor, recheck: memory.recheck)
        var names: Set<SubscriptionName> = []
        self.messages = messages.filter { names.insert($0.name).inserted }.sorted { $0.name.order < $1.name.order }
    }

    // MARK: Opening

    package var opening: [SQL] {
        let names = messages.map(\.name)
        // Owners are read again after the ledgers are locked: a settlement, which holds that lock, may have created one
        // after the first read.
        return [owners(names, lock: "FOR NO KEY UPDATE"), ledgers(names), owners(names, lock: "")]
            + memory.participants.map { $0.look(for: names) } + LedgerFacts.queries(names)
    }

    /// Selects owners and locks them in the order of their keys. Index used: the primary key. `OFFSET 0` forces one
    /// look-up per row. A plan from when the table was small may use the publisher instead (`PlanAge`).
    private func owners(_ names: [SubscriptionName], lock: SQL) -> SQL {
        """
        SELECT i.ordinal, ROW(s.sealed_by, s.customer) AS customer, ROW(s.sealed_by, s.email) AS email, s.offer_id,
               coalesce(s.validation_bucket, s.bucket) AS bucket, s.accepted_on - DATE 'epoch' AS day, s.id,
               ROW(s.sealed_by, s.application_username) AS username, s.owner_no
        FROM (SELECT * FROM \(SQLTable.subscriptions(names), as: "i", ordinal: "ordinal") ORDER BY i.ordinal) AS i
        CROSS JOIN LATERAL (
            SELECT * FROM subscriptions s WHERE \(.sameSubscription("s", "i")) OFFSET 0 \(lock)) AS s
        """
    }

    private func ledgers(_ names: [SubscriptionName]) -> SQL {
        """
        INSERT INTO ledgers AS l (bucket, publisher, environment, subscription_key, bundle_id, heard_at)
        SELECT i.bucket, i.publisher, i.environment, i.subscription_key, i.bundle_id, now()
        FROM \(SQLTable.subscriptions(names) + ["bundle_id": .textArray(messages.map(\.bundleID))], as: "i", ordinal: "ordinal")
        ORDER BY i.ordinal
        ON CONFLICT (bucket, publisher, environment, subscription_key) DO UPDATE SET
            heard_at = now(), bundle_id = coalesce(l.bundle_id, excluded.bundle_id)
        RETURNING l.publisher, l.environment, l.subscription_key, \(LedgerFacts.columns)
        """
    }

    // MARK: Reading

    /// - Parameter answers: answers to ``opening``.
    package func apply(_ answers: ArraySlice<PostgresRows>) throws -> AppliedLedgers {
        let answers = Array(answers)
        let rest = 3 + memory.participants.count
        var facts = messages.map { LedgerFacts($0.name) }
        let places = Dictionary(messages.indices.map { (messages[$0].name, $0) }) { first, _ in first }
        for row in answers[1] {
            guard let index = places[try row.subscriptionName()] else { continue }
            try facts[index].read(ledger: row)
        }
        for row in answers[2] {
            let index = try row.get("ordinal", as: Int.self) - 1
            facts[index].found.username = try row.open("username", as: Username.self)
            guard let customer = try row.open("customer", as: CustomerID?.self) else { continue }
            facts[index].found.owner = .init(
                customer: customer, email: try row.open("email"), offerID: try row.get("offer_id"))
            facts[index].found.ownerValidation = try row.validationID()
            facts[index].found.ownerNo = try row.get("owner_no")
        }
        let parts = try memory.parts(answers[3..<rest], of: messages.map(\.name))
        parts.mark(&facts, at: places)
        try LedgerFacts.read(answers[rest...], into: &facts)
        let found = try facts.map { try $0.found(ownerNo: $0.found.ownerNo, leeway: terms.leeway) }
        return AppliedLedgers(
            memory: memory,
            batch: LedgerBatch(messages, found: found, terms: terms, offers: memory.catalogue.offers), parts: parts
        )
    }
}

extension SubscriptionName {
    /// The order in which rows are locked.
    var order: (UInt8, PublisherID, StoreEnvironment, TransactionID) {
        (bucket.number, publisher, environment, originalTransactionID)
    }
}
