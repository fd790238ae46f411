import Postgres
import RelayCore

/// What the database has of one subscription: its ledger, and what evaluates it. Its owner is read by itself.
struct LedgerFacts: Sendable {
    /// Columns of `ledgers l`.
    static let columns: SQL =
        "clock_timestamp() AS now, l.status, l.expires_at, l.will_renew, l.bundle_id, \(StoredLedger.columns)"

    let name: SubscriptionName
    var found = LedgerChange.Found()
    /// Whether it has a ledger.
    private(set) var isKnown = false
    private var ledger = Result<StoredLedger?, any Error>.success(nil)
    private var namesakes: [SubscriptionLedger] = []
    /// Other data that this version cannot read.
    var trouble: (any Error)?

    /// - Parameter now: time by the database's clock, if it has no ledger.
    init(_ name: SubscriptionName, at now: Timestamp = .earliest) {
        self.name = name
        found.now = now
    }

    /// - Parameter ownerNo: see ``StoredLedger/ledger(ownerNo:)``.
    /// - Throws: ``StoreError`` if this version cannot read some of it.
    func found(ownerNo: Int32?, leeway: Duration) throws -> LedgerChange.Found {
        if let trouble { throw trouble }
        return try foundLedger(ownerNo: ownerNo, leeway: leeway)
    }

    /// The same, whether or not the rest can be read.
    func foundLedger(ownerNo: Int32?, leeway: Duration) throws -> LedgerChange.Found {
        var found = found
        if let ledger = try ledger.get() { found.ledger = ledger.ledger(ownerNo: ownerNo) }
        if name.isOnlyNamed { found.ledger.end(by: namesakes, at: found.now, leeway: leeway) }
        return found
    }

    /// - Parameter row: with ``columns``.
    mutating func read(ledger row: PostgresRow) throws {
        isKnown = true
        ledger = Result { try StoredLedger(row) }
        // The lock may have waited for another update.
        found.now = try row.timestamp("now")
        found.bundleID = try row.get("bundle_id")
        found.status = try row.get("status", as: Int16?.self).flatMap(SubscriptionState.Status.init)
        found.expiresAt = try row.timestampIfSet("expires_at")
        found.willRenew = try row.get("will_renew")
    }

    // MARK: Reading after the ledgers are locked

    static func queries(_ names: [SubscriptionName]) -> [SQL] {
        [purchases(names)] + [namesakes(of: names)].compactMap(\.self)
    }

    /// - Parameters:
    ///   - answers: answers to ``queries(_:)``.
    ///   - facts: one for each name.
    static func read(_ answers: ArraySlice<PostgresRows>, into facts: inout [LedgerFacts]) throws {
        let answers = Array(answers)
        for row in answers[0] {
            let index = try row.get("ordinal", as: Int.self) - 1
            if let offer = try row.get("offer_id", as: OfferID?.self) { facts[index].found.granted.insert(offer) }
            do {
                facts[index].found.periods.append(try [LedgerPeriod](stored: row.get("period")))
            } catch let error as StoreError {
                facts[index].trouble = error
            }
        }
        for row in answers.dropFirst().joined() {
            // A ledger that this version cannot read ends nothing.
            guard let ledger = try? StoredLedger.state(row) else { continue }
            facts[try row.get("place", as: Int.self)].namesakes.append(ledger)
        }
    }

    /// Reads the granted or revoked offers, under former ids too, and the newest 32 periods bought under this id. Each
    /// restore of an app may add a row with the same offer, so each offer is read once. Indexes used:
    /// `validations_subscription`, the ledgers' primary key.
    private static func purchases(_ names: [SubscriptionName]) -> SQL {
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

    /// Selects the ledgers of the names that Apple signs for ids that only apps gave to purchases. Nil if there are no
    /// such names, as nearly always. Index used: the primary key.
    private static func namesakes(of names: [SubscriptionName]) -> SQL? {
        let pairs = names.enumerated().flatMap { index, name in name.namesakes.map { (index: index, name: $0) } }
        guard !pairs.isEmpty else { return nil }
        let places: SQLTable = ["place": .int4Array(pairs.map { Int32($0.index) })]
        return """
            SELECT i.place, l.state
            FROM \(SQLTable.subscriptions(pairs.map(\.name)) + places, as: "i")
            CROSS JOIN LATERAL (SELECT * FROM ledgers l WHERE \(.sameSubscription("l", "i")) OFFSET 0) AS l
            """
    }
}
