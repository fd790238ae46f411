import Postgres
import RelayCore

/// The ledgers of a settlement's grants. They are read before it is decided who owns the subscriptions, since the store
/// may have revoked a purchase, and each grant is a statement about its ledger.
struct GrantedLedgers: Sendable {
    let memory: StoreMemory
    private var facts: [SubscriptionName: LedgerFacts] = [:]
    private let parts: [LedgerPart]
    private let now: Timestamp

    /// A settlement without grants.
    init(memory: StoreMemory) {
        self.memory = memory
        (parts, now) = ([], .earliest)
    }

    /// - Parameters:
    ///   - answers: answers to ``open(_:)``.
    ///   - now: time by the database's clock.
    init(_ names: [SubscriptionName], _ answers: ArraySlice<PostgresRows>, at now: Timestamp, memory: StoreMemory)
        throws
    {
        self.memory = memory
        self.now = now
        let answers = Array(answers)
        var facts = names.map { LedgerFacts($0, at: now) }
        let places = Dictionary(uniqueKeysWithValues: zip(names, names.indices))
        for row in answers[0] {
            if let place = places[try row.subscriptionName()] { try facts[place].read(ledger: row) }
        }
        parts = try memory.parts(answers[1...], of: names)
        parts.mark(&facts, at: places)
        for one in facts { self.facts[one.name] = one }
    }

    /// Reads the ledgers that exist, and what features have of the subscriptions. Ledgers are locked after the owners'
    /// rows, in key order, as everywhere. Index used: the primary key.
    static func open(_ names: [SubscriptionName], _ participants: [any LedgerParticipant]) -> [SQL] {
        [
            """
            SELECT l.publisher, l.environment, l.subscription_key, \(LedgerFacts.columns)
            FROM (SELECT * FROM \(SQLTable.subscriptions(names), as: "i", ordinal: "ordinal") ORDER BY i.ordinal) AS i
            CROSS JOIN LATERAL (
                SELECT * FROM ledgers l WHERE \(.sameSubscription("l", "i")) OFFSET 0 FOR NO KEY UPDATE) AS l
            """
        ] + participants.map { $0.look(for: names) }
    }

    /// Reads the rest of what evaluates the subscriptions. A new one has nothing to read.
    ///
    /// - Parameter owned: those that had an owner before.
    mutating func readKnown(_ owned: some Sequence<SubscriptionName>, in transaction: PostgresTransaction) async throws
    {
        let names = Set(owned).union(facts.values.filter { $0.isKnown || !$0.name.namesakes.isEmpty }.map(\.name))
            .sorted { $0.order < $1.order }
        guard !names.isEmpty else { return }
        var read = names.map { facts[$0] ?? LedgerFacts($0, at: now) }
        try LedgerFacts.read(try await transaction.pipeline(LedgerFacts.queries(names))[...], into: &read)
        for one in read { facts[one.name] = one }
    }

    /// Reads the periods in a grant's receipt. A ledger with data that this version cannot read does not prevent the
    /// grant. Its next update reports it.
    mutating func periods(_ row: PostgresRow, of name: SubscriptionName) -> [LedgerPeriod] {
        do {
            return try [LedgerPeriod](stored: row.get("period"))
        } catch {
            facts[name]?.trouble = error
            return []
        }
    }

    /// The ledger as a grant would leave it; nil if this version cannot read it.
    func ledger(with grant: Ownership.Grant) -> LedgerChange? {
        guard let found = try? facts[grant.name]?.foundLedger(ownerNo: nil, leeway: memory.leeway) else { return nil }
        return LedgerChange(grant, found: found, terms: memory.grantTerms, offers: memory.catalogue.offers)
    }

    fileprivate typealias Unreadable = (message: LedgerMessage, isTransfer: Bool)

    /// The ledgers after the grants.
    struct Update {
        fileprivate var applied: AppliedLedgers
        fileprivate var new: Set<SubscriptionName>
        /// Grants whose ledgers this version cannot read.
        fileprivate var unreadable: [Unreadable]

        /// The ledgers that this version can read.
        var ledgers: [SubscriptionName: LedgerChange] {
            Dictionary(uniqueKeysWithValues: applied.batch.all.map { ($0.message.name, $0) })
        }

        /// - Parameter changes: changes of customers by the grants.
        func closing(_ changes: [CustomerChange]) -> LedgerTransaction.Closing {
            var closing = applied.closing(new: new, grants: changes)
            for (isTransfer, grants) in Dictionary(grouping: unreadable, by: \.isTransfer) {
                closing.queries.append(LedgerTransaction.leave(grants.map(\.message), replacing: isTransfer))
                closing.makesDue = true
            }
            return closing
        }
    }

    func update(
        _ granted: [Settlement.Granted], opened: [SubscriptionName: Ownership.Subscription], _ ownership: Ownership
    ) -> Update {
        var (messages, found) = ([LedgerMessage](), [LedgerChange.Found]())
        var new: Set<SubscriptionName> = []
        var unreadable: [Unreadable] = []
        let groups = Dictionary(grouping: granted, by: \.name)
        for (name, group) in groups.sorted(by: { $0.key.order < $1.key.order }) {
            let grants = group.map(\.held.grant)
            let message = LedgerMessage(grants: grants, on: name)
            let facts = facts[name] ?? LedgerFacts(name, at: now)
            let before = opened[name].flatMap { $0.owner == nil ? nil : $0.ownerNo }
            let isTransfer = ownership.transfers.contains { $0.subscription == name }
            guard var one = try? facts.found(ownerNo: before, leeway: memory.leeway) else {
                unreadable.append((message, isTransfer))
                continue
            }
            one.add(
                grants, to: name, of: ownership.subscriptions[name] ?? Ownership.Subscription(alone: grants[0]),
                isTransfer: isTransfer)
            if !facts.isKnown { new.insert(name) }
            messages.append(message)
            found.append(one)
        }
        let batch = LedgerBatch(
            messages, found: found, terms: memory.grantTerms, offers: memory.catalogue.offers)
        return Update(
            applied: AppliedLedgers(memory: memory, batch: batch, parts: parts), new: new, unreadable: unreadable)
    }
}

extension LedgerTransaction {
    /// Leaves grants to the next update of their ledgers, which is due now.
    ///
    /// - Parameter replacing: whether they are transfers.
    static func leave(_ grants: [LedgerMessage], replacing: Bool) -> SQL {
        let rows: SQLTable = ["bundle_id": .textArray(grants.map(\.bundleID))]
        return """
            INSERT INTO ledgers AS l (
                bucket, publisher, environment, subscription_key, bundle_id, heard_at, granted_at, granted_until,
                granted_offer, due_at)
            SELECT i.bucket, i.publisher, i.environment, i.subscription_key, i.bundle_id, now(), i.granted_at,
                   i.granted_until, i.granted_offer, now()
            FROM \(SQLTable.subscriptions(grants.map(\.name)) + grantColumns(grants) + rows, as: "i")
            ON CONFLICT (bucket, publisher, environment, subscription_key) DO UPDATE SET
                \(grantAssignments("excluded", replacing: replacing ? "true" : "false")), due_at = CASE WHEN l.parked_at IS NULL THEN now() END
            """
    }

    /// Columns of the newest grant in each message; NULL without one.
    static func grantColumns(_ messages: [LedgerMessage?]) -> SQLTable {
        let grants = messages.map { $0?.statement.granted }
        let ends = zip(messages, grants).map { message, grant in
            grant.flatMap { message?.statement.cleeng[$0.offer]?.until }
        }
        return [
            "granted_at": .timestamptzArray(grants.map { $0?.at.postgres }),
            "granted_until": .timestamptzArray(ends.map { $0?.postgres }),
            "granted_offer": .textArray(grants.map { $0?.offer }),
        ]
    }

    /// Assignments of ``grantColumns(_:)`` to `ledgers l` from a row with this name, unless a newer grant is there.
    ///
    /// - Parameter replacing: condition under which they replace a newer one, which was to the owner before.
    static func grantAssignments(_ row: SQL, replacing: SQL) -> SQL {
        let counts: SQL = "(\(replacing) OR \(row).granted_at >= coalesce(l.granted_at, '-infinity'))"
        func value(_ column: SQL) -> SQL {
            "\(column) = CASE WHEN \(counts) THEN \(row).\(column) ELSE l.\(column) END"
        }
        return "\(value("granted_until")), \(value("granted_offer")), \(value("granted_at"))"
    }
}
