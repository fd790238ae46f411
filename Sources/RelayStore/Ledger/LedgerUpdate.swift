import Foundation
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
    let leeway: Duration
    /// Whether the caller asks the open questions itself. Then no other worker asks them for a minute.
    private let asks: Bool
    /// Time after a store's statement before the relay asks Cleeng. Cleeng may not know the statement yet, and the
    /// relay would store its old answer. The app may also post a purchase now, which needs the customer's next read.
    static let settling = Duration.seconds(10)
    /// Time that a caller has for asking.
    static let asking = Duration.seconds(60)
    /// Sorted by key, the lock order.
    let messages: [LedgerMessage]

    /// - Parameters:
    ///   - messages: one for each subscription; if there are several, the first counts.
    ///   - asks: whether the caller asks the questions that are then open.
    init(_ messages: [LedgerMessage], memory: StoreMemory, leeway: Duration, asks: Bool = false) {
        self.asks = asks
        self.memory = memory
        self.leeway = leeway
        var names: Set<SubscriptionName> = []
        self.messages = messages.filter { names.insert($0.name).inserted }.sorted { $0.name.order < $1.name.order }
    }

    // MARK: Opening

    var opening: [SQL] {
        let names = messages.map(\.name)
        // A settlement may create the owner between the first two statements. It locks the ledger until it commits, so
        // the owner is read again after that.
        return [
            owners(names, lock: "FOR NO KEY UPDATE"), ledgers(names), owners(names, lock: ""), purchases(names),
            ContractNews.look(for: names),
        ]
    }

    /// Selects owners and locks them in the order of their keys. `OFFSET 0` forces the planner to one look-up per row.
    /// Index used: the primary key. A plan from when the table was small may use the publisher instead (`PlanAge`).
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

    /// Reads the offers of granted or revoked access, and the newest 32 periods bought under this id. Each restore of
    /// an app may add a row with the same offer. Grants under the subscription's former ids count too. Indexes used:
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

    // MARK: Consequences

    /// A subscription before and after the update.
    struct Entry: Sendable {
        var message: LedgerMessage
        var ledger = SubscriptionLedger()
        var before = Before()
        var standing: SubscriptionStanding?
        /// The owner's name at the publisher; nil if the subscription has no owner.
        var username: Username?
        /// The owner by Cleeng's grant; nil if there is none.
        var owner: LedgerResult.Owner?
        var ownerValidation: ValidationID?
        /// Nil if it has no owner.
        var ownerNo: Int32?
        var now = Timestamp(microseconds: 0)
        var leeway = Duration.zero
        var asks = false
        /// Time after which a store is asked again that does not list revoked purchases.
        var recheck = StoreMemory.standardRecheck
        var bundleID: BundleID?
        /// Its contract, with the endpoints to notify; nil if it has none.
        var contract: ContractNews.Contract?
        /// Offers that were granted on it, even if the access was revoked since.
        var granted: Set<OfferID> = []

        /// Present state of the granted access.
        var access: SubscriptionAccess { SubscriptionAccess(ledger, granted: granted, at: now, leeway: leeway) }
        /// The published status. It does not expire before an answer about a late renewal.
        var shown: SubscriptionStanding? {
            guard var shown = standing, shown.status == .expired, shown.access == nil else { return standing }
            // A subscription that was never published counts as active only if it has a grant.
            guard let was = before.status.flatMap(SubscriptionStanding.Status.init) ?? (owner == nil ? nil : .active)
            else { return standing }
            shown.status = was
            if was != .expired { shown.reason = nil }
            return shown
        }
        /// Whether the publisher must be notified. A new grant sends its own notification.
        var hasNews: Bool {
            // The publisher may have been notified of the grant before this statement.
            guard before.status != nil else { return message.note != nil }
            let after = Before(
                status: shown?.status.rawValue, expiresAt: shown?.expiresAt, willRenew: shown?.willRenew,
                ledger: ledger)
            return before.standing != after.standing
                || (before.ledger != ledger && (purchases(before) != purchases(after) || hasEndedItem))
        }
        /// Whether the end of an item passed since the store's previous statement.
        private var hasEndedItem: Bool {
            guard let moment = before.ledger.renewal?.statedAt else { return false }
            return before.ledger.nextItemEnd(after: moment).map { $0 <= now } ?? false
        }
        private func purchases(_ words: Before) -> [CustomerPurchase] {
            words.ledger.purchases(
                of: message.name, shown: words.status.flatMap(SubscriptionStanding.Status.init), at: now, leeway: leeway
            )
            .sorted { $0.productID < $1.productID }
        }
        /// Whether the store has stated whether it renews. A purchase without an end needs no such statement.
        var hasRenewalInfo: Bool { ledger.renewal != nil || ledger.periods.values.contains { $0.expiresAt == nil } }
        var hasNewStatus: Bool { before.status != shown?.status.rawValue }
    }

    /// State of the row before the update.
    struct Before: Sendable {
        var status: Int16?
        var expiresAt: Timestamp?
        var willRenew: Bool?
        var ledger = SubscriptionLedger()

        fileprivate var standing: [Int64?] {
            [status.map(Int64.init), expiresAt?.microseconds, willRenew.map { $0 ? 1 : 0 }]
        }
    }

    /// - Parameter answers: answers to ``opening``.
    func apply(_ answers: ArraySlice<PostgresRows>) throws -> [Entry] {
        let answers = Array(answers)
        let (owners, ledgers, purchases, contracts) = (answers[2], answers[1], answers[3], answers[4])
        var entries = messages.map { Entry(message: $0) }
        for row in owners {
            let index = try row.get("ordinal", as: Int.self) - 1
            entries[index].username = try row.open("username", as: Username.self)
            guard let customer = try row.open("customer", as: CustomerID?.self) else { continue }
            entries[index].owner = .init(
                customer: customer, email: try row.open("email"), offerID: try row.get("offer_id"))
            entries[index].ownerValidation = try row.validationID()
            entries[index].ownerNo = try row.get("owner_no")
        }
        let places = Dictionary(messages.indices.map { (messages[$0].name, $0) }) { first, _ in first }
        for row in ledgers {
            guard let index = places[try row.subscriptionName()] else { continue }
            entries[index].ledger = try StoredLedger.read(row, ownerNo: entries[index].ownerNo)
            // A subscription granted before offers were stored, or moved here, has the owner's offer.
            if entries[index].ledger.granted == nil, let owner = entries[index].owner {
                entries[index].ledger.apply(LedgerStatement(granted: LedgerGrant(offer: owner.offerID, at: .earliest)))
            }
            entries[index].now = try row.timestamp("now")
            entries[index].bundleID = try row.get("bundle_id")
            entries[index].before = Before(
                status: try row.get("status"), expiresAt: try row.timestampIfSet("expires_at"),
                willRenew: try row.get("will_renew"), ledger: entries[index].ledger)
            entries[index].leeway = leeway
            entries[index].asks = asks
            entries[index].recheck = memory.recheck
        }
        for row in purchases {
            let index = try row.get("ordinal", as: Int.self) - 1
            if let offer = try row.get("offer_id", as: OfferID?.self) { entries[index].granted.insert(offer) }
            guard let period = try LedgerPeriod(stored: row.get("period")) else { continue }
            entries[index].ledger.apply(LedgerStatement(periods: [period]))
        }
        try ContractNews.read(contracts) { entries[$0].contract = $1 }
        for index in entries.indices {
            if case .whileOwned(let customer) = messages[index].condition, customer != entries[index].owner?.customer {
                // The owner changed after the question: the answer and its note are discarded.
                entries[index].message = LedgerMessage(messages[index].name)
            }
            var word = entries[index].message.word
            // An end statement covers the periods known by now: its source cannot know of a renewal that is stated
            // later.
            let lastKnownEnd = entries[index].ledger.lastKnownEnd
            func bounded(_ end: LedgerEnd) -> LedgerEnd {
                LedgerEnd(
                    isOver: end.isOver, until: end.isOver ? end.until ?? lastKnownEnd : end.until,
                    statedAt: end.statedAt)
            }
            word.end = word.end.map(bounded)
            word.cleeng = word.cleeng.mapValues(bounded)
            for offer in word.cleeng.keys { word.cleeng[offer]?.ownerNo = entries[index].ownerNo }
            entries[index].ledger.apply(word)
        }
        for index in entries.indices {
            // Ids that had moved to the former id have moved on with it.
            for old in messages[index].word.movesFrom {
                guard let place = places[messages[index].name.under(old)] else { continue }
                let before = entries[place].ledger.movedFrom.subtracting([messages[index].name.originalTransactionID])
                entries[index].ledger.apply(LedgerStatement(movesFrom: before))
                // Access granted under the former id continues here.
                entries[index].granted.formUnion(entries[place].granted)
                if entries[index].ledger.granted == nil, let granted = entries[place].ledger.granted {
                    entries[index].ledger.apply(LedgerStatement(granted: granted))
                }
            }
            // A product may belong to several offers, and the granted one counts. So grants from before a move are
            // added first.
            if let offers = memory.catalogue.offers(of: entries[index].ledger.products, in: messages[index].name) {
                entries[index].ledger.setOffers(offers)
            }
            entries[index].standing = entries[index].ledger.standing(at: entries[index].now, leeway: leeway)
        }
        return entries
    }
}

extension SubscriptionName {
    /// The order in which rows are locked.
    var order: (UInt8, PublisherID, StoreEnvironment, TransactionID) {
        (bucket.number, publisher, environment, originalTransactionID)
    }
}
