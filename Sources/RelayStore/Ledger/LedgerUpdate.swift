import Postgres
import RelayCore

/// Records statements about subscriptions and all their consequences, in one transaction with two round trips:
///
///     opening   locks the owner, then the ledger; reads the purchases' periods
///     closing   writes the ledger, its timeline, changes of granted access, and messages to the publisher
///
/// Every change of a subscription's owner or of access granted on it locks the owner's row first. Settlements do the
/// same (``Ownership``), so they cannot deadlock. Only a move may deadlock, since it inserts an owner's row; the server
/// then aborts one transaction, and it is retried.
struct LedgerUpdate: Sendable {
    let memory: StoreMemory
    private let terms: UpdatedLedger.Terms
    /// Sorted by key, the lock order.
    let messages: [LedgerMessage]

    /// - Parameters:
    ///   - messages: one for each subscription; if there are several, the first counts.
    ///   - asks: whether the caller asks the questions that are then open.
    ///   - asksFor: time in which it must have asked them.
    init(
        _ messages: [LedgerMessage], memory: StoreMemory, leeway: Duration, asks: Bool = false,
        asksFor: Duration = .seconds(60)
    ) {
        self.memory = memory
        terms = UpdatedLedger.Terms(leeway: leeway, asks: asks, asksFor: asksFor, recheck: memory.recheck)
        var names: Set<SubscriptionName> = []
        self.messages = messages.filter { names.insert($0.name).inserted }.sorted { $0.name.order < $1.name.order }
    }

    // MARK: Opening

    var opening: [SQL] {
        let names = messages.map(\.name)
        // Owners are read again after the ledgers are locked: a settlement, which holds that lock, may have created one
        // after the first read.
        return [
            owners(names, lock: "FOR NO KEY UPDATE"), ledgers(names), owners(names, lock: ""), purchases(names),
            ContractStatements.look(for: names), Self.namesakes(of: names),
        ]
    }

    /// Selects the ledgers of the names that Apple signs for ids that only apps gave to purchases. Nearly always there
    /// are none to look for. Index used: the primary key.
    static func namesakes(of names: [SubscriptionName]) -> SQL {
        let pairs = names.enumerated().flatMap { index, name in name.namesakes.map { (index: index, name: $0) } }
        let places: SQLTable = ["place": .int4Array(pairs.map { Int32($0.index) })]
        return """
            SELECT i.place, l.state
            FROM \(SQLTable.subscriptions(pairs.map(\.name)) + places, as: "i")
            CROSS JOIN LATERAL (SELECT * FROM ledgers l WHERE \(.sameSubscription("l", "i")) OFFSET 0) AS l
            """
    }

    /// Reads the answer to ``namesakes(of:)``, by place. A ledger that this version cannot read ends nothing.
    static func readNamesakes(_ rows: PostgresRows) throws -> [Int: [SubscriptionLedger]] {
        var ledgers: [Int: [SubscriptionLedger]] = [:]
        for row in rows {
            guard let ledger = try? StoredLedger.state(row) else { continue }
            ledgers[try row.get("place"), default: []].append(ledger)
        }
        return ledgers
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
        RETURNING l.publisher, l.environment, l.subscription_key, clock_timestamp() AS now, l.status, l.expires_at,
                  l.will_renew, l.bundle_id, \(StoredLedger.columns)
        """
    }

    /// Reads the granted or revoked offers, under former ids too, and the newest 32 periods bought under this id. Each
    /// restore of an app may add a row with the same offer, so each offer is read once. Indexes used:
    /// `validations_subscription`, the ledgers' primary key.
    private func purchases(_ names: [SubscriptionName]) -> SQL {
        """
        SELECT i.ordinal, p.period, p.offer_id
        FROM \(SQLTable.subscriptions(names), as: "i", ordinal: "ordinal")
        CROSS JOIN LATERAL (
            SELECT i.bucket, i.subscription_key AS key
            UNION ALL
            SELECT split_part(old.name, ':', 1)::int2, substr(old.name, strpos(old.name, ':') + 1)
            FROM ledgers l
            CROSS JOIN LATERAL unnest(string_to_array(l.predecessors, ' ')) AS old(name)
            WHERE \(.sameSubscription("l", "i"))) AS n
        CROSS JOIN LATERAL (
            SELECT CASE WHEN n.key = i.subscription_key AND b.newest <= 32 THEN b.period END AS period, b.offer_id
            FROM (
                SELECT v.period, CASE WHEN \(Validation.wasGranted) THEN v.offer_id END AS offer_id,
                       row_number() OVER (ORDER BY v.accepted_at DESC) AS newest,
                       row_number() OVER (PARTITION BY v.offer_id, \(Validation.wasGranted)) AS of_offer
                FROM validations v
                WHERE v.bucket = n.bucket AND v.subscription_key = n.key AND v.publisher = i.publisher
                  AND v.environment = i.environment
                  AND v.status IN \([ValidationStatus.granted, .transferred, .revoked])) b
            WHERE b.newest <= 32 OR b.of_offer = 1) p
        """
    }

    // MARK: Reading

    /// - Parameter answers: answers to ``opening``.
    func apply(_ answers: ArraySlice<PostgresRows>) throws -> UpdatedLedgers {
        let answers = Array(answers)
        let (owners, ledgers, purchases, contracts) = (answers[2], answers[1], answers[3], answers[4])
        var found = messages.map { _ in UpdatedLedger.Found() }
        for row in owners {
            let index = try row.get("ordinal", as: Int.self) - 1
            found[index].username = try row.open("username", as: Username.self)
            guard let customer = try row.open("customer", as: CustomerID?.self) else { continue }
            found[index].owner = .init(
                customer: customer, email: try row.open("email"), offerID: try row.get("offer_id"))
            found[index].ownerValidation = try row.validationID()
            found[index].ownerNo = try row.get("owner_no")
        }
        let places = Dictionary(messages.indices.map { (messages[$0].name, $0) }) { first, _ in first }
        for row in ledgers {
            guard let index = places[try row.subscriptionName()] else { continue }
            found[index].ledger = try StoredLedger.read(row, ownerNo: found[index].ownerNo)
            found[index].now = try row.timestamp("now")
            found[index].bundleID = try row.get("bundle_id")
            found[index].status = try row.get("status", as: Int16?.self).flatMap(SubscriptionState.Status.init)
            found[index].expiresAt = try row.timestampIfSet("expires_at")
            found[index].willRenew = try row.get("will_renew")
        }
        for row in purchases {
            let index = try row.get("ordinal", as: Int.self) - 1
            if let offer = try row.get("offer_id", as: OfferID?.self) { found[index].granted.insert(offer) }
            found[index].periods.append(try [LedgerPeriod](stored: row.get("period")))
        }
        try ContractStatements.read(contracts) { found[$0].contract = $1 }
        let namesakes = try Self.readNamesakes(answers[5])
        for index in messages.indices where messages[index].name.isOnlyNamed {
            found[index].ledger.end(by: namesakes[index] ?? [], at: found[index].now, leeway: terms.leeway)
        }
        return UpdatedLedgers(messages, found: found, terms: terms, offers: memory.catalogue.offers)
    }
}

extension SubscriptionName {
    /// The order in which rows are locked.
    var order: (UInt8, PublisherID, StoreEnvironment, TransactionID) {
        (bucket.number, publisher, environment, originalTransactionID)
    }
}
