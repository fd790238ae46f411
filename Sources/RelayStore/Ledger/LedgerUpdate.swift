import Foundation
import Postgres
import RelayCore

/// Records statements on subscriptions, with everything that follows from them, in one transaction and two round trips:
///
///     opening   locks the owner, then the ledger; reads the purchases' periods
///     closing   writes the ledger, its timeline, changes of granted access, and messages to the publisher
///
/// Every change of a subscription's owner or of access granted on it locks the owner's row first, and so do
/// settlements (``Ownership``): they do not wait for each other crosswise. Only a move, which makes an owner's row, may: then
/// the server ends one of them, and it is tried again.
struct LedgerUpdate: Sendable {
    let memory: StoreMemory
    let leeway: Duration
    /// Whether the caller asks about what is in question. Then nobody else does for a minute.
    private let asks: Bool
    /// After a store's statement the relay waits so long before it asks Cleeng. Cleeng may not know the statement yet, and the relay
    /// would keep its old answer. The app may also post a purchase now, and needs the customer's next read.
    static let settling = Duration.seconds(10)
    /// How long a caller may take that asks.
    static let asking = Duration.seconds(60)
    /// In the order of their keys.
    let messages: [LedgerMessage]

    /// - Parameters:
    ///   - messages: one for each subscription; of several the first counts.
    ///   - asks: whether the caller asks about what is then in question.
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
        // A settlement may make the owner between the first two statements. It holds the ledger until it commits, so the owner is read after that.
        return [
            owners(names, lock: "FOR NO KEY UPDATE"), ledgers(names), owners(names, lock: ""), purchases(names),
            ContractNews.look(for: names),
        ]
    }

    /// Locked in the order of their keys. `OFFSET 0` leaves the planner one look-up for each row, and no other way to join. Index used: the
    /// primary key; a plan from when the table was small may go by the publisher instead (`PlanAge`).
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

    /// Reads the granted offers whose access runs or was taken back, and the newest 32 periods bought under this id.
    /// Each restore of an app may add a row of the same offer. Grants under the subscription's earlier ids count too.
    /// Indexes used: `validations_subscription`, the ledgers' primary key.
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

    /// The keys of subscriptions, for statements that take them by number: buckets, publishers, environments, subscription keys.
    static func keys(_ names: [SubscriptionName]) -> [PostgresValue] {
        SQLTable.subscriptions(names).columns.map(\.value)
    }

    // MARK: What follows

    /// A subscription as it was found, and as it is now.
    struct Entry: Sendable {
        var message: LedgerMessage
        var ledger = SubscriptionLedger()
        var before = Before()
        var standing: SubscriptionStanding?
        /// Under which of the publisher's names it stands; nil where nobody has claimed it.
        var username: Username?
        /// Nil where it was never sent to Cleeng.
        var owner: LedgerResult.Owner?
        var ownerValidation: ValidationID?
        /// Nil where it has no owner.
        var ownerNo: Int32?
        var now = Timestamp(microseconds: 0)
        var leeway = Duration.zero
        var asks = false
        /// After which a store is asked again that keeps no list of what it took back.
        var recheck = StoreMemory.standardRecheck
        var bundleID: BundleID?
        /// Its contract, with the endpoints to notify; nil if it has none.
        var contract: ContractNews.Contract?
        /// For which access was granted on it, whether it runs or was taken back.
        var granted: Set<OfferID> = []

        /// Present state of the granted access.
        var access: SubscriptionAccess { SubscriptionAccess(ledger, granted: granted, at: now, leeway: leeway) }
        /// The status that is shown and sent: while nobody has been asked about a late renewal, nothing is over.
        var shown: SubscriptionStanding? {
            guard var shown = standing, shown.status == .expired, shown.access == nil else { return standing }
            // Of what was never shown, only a grant says that it runs.
            guard let was = before.status.flatMap(SubscriptionStanding.Status.init) ?? (owner == nil ? nil : .active)
            else { return standing }
            shown.status = was
            if was != .expired { shown.reason = nil }
            return shown
        }
        /// Whether its publisher must be notified. A new grant notifies by itself.
        var hasNews: Bool {
            // It may have been notified of the grant already, before this statement.
            guard before.status != nil else { return message.note != nil }
            let after = Before(
                status: shown?.status.rawValue, expiresAt: shown?.expiresAt, willRenew: shown?.willRenew,
                ledger: ledger)
            return before.standing != after.standing
                || (before.ledger != ledger && (purchases(before) != purchases(after) || hasEndedItem))
        }
        /// Whether the date of an item passed since the store's last statement before this one.
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
        /// Whether the store has said what is to become of it; of what never ends there is nothing to say.
        var hasRenewalInfo: Bool { ledger.renewal != nil || ledger.periods.values.contains { $0.expiresAt == nil } }
        var hasNewStatus: Bool { before.status != shown?.status.rawValue }
    }

    /// What the row said before.
    struct Before: Sendable {
        var status: Int16?
        var expiresAt: Timestamp?
        var willRenew: Bool?
        var ledger = SubscriptionLedger()

        fileprivate var standing: [Int64?] {
            [status.map(Int64.init), expiresAt?.microseconds, willRenew.map { $0 ? 1 : 0 }]
        }
    }

    /// - Parameter answers: those to ``opening``.
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
                // The owner changed after the question was asked: the answer and its note are discarded.
                entries[index].message = LedgerMessage(messages[index].name)
            }
            var word = entries[index].message.word
            // An end statement covers the periods known by now: its source cannot know of a renewal that is stated later.
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
            // What had moved to where it comes from has moved on with it.
            for old in messages[index].word.movesFrom {
                guard let place = places[messages[index].name.under(old)] else { continue }
                let before = entries[place].ledger.movedFrom.subtracting([messages[index].name.originalTransactionID])
                entries[index].ledger.apply(LedgerStatement(movesFrom: before))
                // What was granted on it runs on from here.
                entries[index].granted.formUnion(entries[place].granted)
                if entries[index].ledger.granted == nil, let granted = entries[place].ledger.granted {
                    entries[index].ledger.apply(LedgerStatement(granted: granted))
                }
            }
            // Of several offers that sell a product the granted one counts, so what was granted before a move is known first.
            if let offers = memory.catalogue.offers(of: entries[index].ledger.products, in: messages[index].name) {
                entries[index].ledger.setOffers(offers)
            }
            entries[index].standing = entries[index].ledger.standing(at: entries[index].now, leeway: leeway)
        }
        return entries
    }
}

extension SubscriptionName {
    /// In which rows are locked.
    var order: (UInt8, PublisherID, StoreEnvironment, TransactionID) {
        (bucket.number, publisher, environment, originalTransactionID)
    }
}
