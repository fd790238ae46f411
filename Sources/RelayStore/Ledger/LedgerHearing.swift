import Foundation
import Postgres
import RelayCore

/// Hears words of subscriptions, with everything that follows from them, in one transaction and two trips to the server:
///
///     opening   locks the owner, then the ledger; reads what purchases have said
///     closing   writes the ledger, its timeline, what became of granted access, and word to the publisher
///
/// Whoever changes a subscription's owner or the access that was granted on it holds the owner's row first, and so do
/// settlements (``Ownership``): they do not wait for each other crosswise. Only a move, which makes an owner's row, may: then
/// the server ends one of them, and it is tried again.
struct LedgerHearing: Sendable {
    let instance: String
    let leeway: Duration
    /// In the order of their keys.
    let messages: [LedgerMessage]

    /// - Parameter messages: of each subscription one; of several of one the first is heard.
    init(_ messages: [LedgerMessage], instance: String, leeway: Duration) {
        self.instance = instance
        self.leeway = leeway
        var names: Set<SubscriptionName> = []
        self.messages = messages.filter { names.insert($0.name).inserted }.sorted { $0.name.order < $1.name.order }
    }

    // MARK: Opening

    private static let ownersSQL = """
        SELECT i.ordinal, ROW(s.sealed_by, s.customer), ROW(s.sealed_by, s.email), s.offer_id,
               coalesce(s.validation_bucket, s.bucket), s.accepted_on - DATE 'epoch', s.id,
               ROW(s.sealed_by, s.application_username)
        FROM unnest($1::int2[], $2::text[], $3::text[], $4::text[]) WITH ORDINALITY
             AS i(bucket, publisher, environment, subscription_key, ordinal)
        JOIN subscriptions s ON s.bucket = i.bucket AND s.publisher = i.publisher AND s.environment = i.environment
             AND s.subscription_key = i.subscription_key
        ORDER BY i.ordinal
        FOR NO KEY UPDATE OF s
        """

    private static let ledgersSQL = """
        INSERT INTO ledgers AS l (bucket, publisher, environment, subscription_key, bundle_id, heard_at)
        SELECT i.bucket, i.publisher, i.environment, i.subscription_key, i.bundle_id, now()
        FROM unnest($1::int2[], $2::text[], $3::text[], $4::text[], $5::text[]) WITH ORDINALITY
             AS i(bucket, publisher, environment, subscription_key, bundle_id, ordinal)
        ORDER BY i.ordinal
        ON CONFLICT (bucket, publisher, environment, subscription_key) DO UPDATE SET
            heard_at = now(), bundle_id = coalesce(l.bundle_id, excluded.bundle_id)
        RETURNING l.publisher, l.environment, l.subscription_key, l.state, l.granted_at, clock_timestamp(), l.status,
                  l.expires_at, l.will_renew, l.bundle_id
        """

    /// Of what was ever granted. Index used: `validations_subscription`.
    private static let purchasesSQL = """
        SELECT i.ordinal, p.period
        FROM unnest($1::int2[], $2::text[], $3::text[], $4::text[]) WITH ORDINALITY
             AS i(bucket, publisher, environment, subscription_key, ordinal)
        CROSS JOIN LATERAL (
            SELECT v.period
            FROM validations v
            WHERE v.bucket = i.bucket AND v.subscription_key = i.subscription_key AND v.publisher = i.publisher
              AND v.environment = i.environment AND v.period IS NOT NULL AND v.status IN (1, 4, 5)
            ORDER BY v.accepted_at DESC
            LIMIT 16) p
        """

    var opening: [PostgresQuery] {
        [
            PostgresQuery(Self.ownersSQL, keys),
            PostgresQuery(Self.ledgersSQL, keys + [.textArray(messages.map(\.bundleID))]),
            PostgresQuery(Self.purchasesSQL, keys),
            ContractNews.look(for: messages.map(\.name)),
        ]
    }

    private var keys: [PostgresValue] { Self.keys(messages.map(\.name)) }

    static func keys(_ names: [SubscriptionName]) -> [PostgresValue] {
        [
            .int2Array(names.map { Int16($0.bucket.number) }), .textArray(names.map(\.publisher)),
            .textArray(names.map(\.environment)), .textArray(names.map(\.originalTransactionID)),
        ]
    }

    // MARK: What follows

    /// A subscription as it was found, and as it is now.
    struct Heard: Sendable {
        var message: LedgerMessage
        var ledger = SubscriptionLedger()
        var before = Before()
        var standing: SubscriptionStanding?
        /// Under which of the publisher's names it stands; nil where nobody has claimed it.
        var username: Username?
        /// Nil where Cleeng was never told of it.
        var owner: HeardSubscription.Owner?
        var ownerValidation: ValidationID?
        var now = Timestamp(microseconds: 0)
        var leeway = Duration.zero
        var bundleID: BundleID?
        /// The contract that it is of, with who is to be told of that; nil where it is of none.
        var contract: ContractNews.Contract?

        /// What becomes of the access that was granted on it. The end of one that has moved on changes nothing.
        var access: AccessVerdict? { ledger.movedTo == nil ? standing?.access : nil }
        /// As it is shown and told: while nobody has been asked about a renewal that is late, nothing is over.
        var shown: SubscriptionStanding? {
            guard var shown = standing, shown.status == .expired, shown.access == nil else { return standing }
            // Of what was never shown, only a grant says that it runs.
            guard let was = before.status.flatMap(SubscriptionStanding.Status.init) ?? (owner == nil ? nil : .active)
            else { return standing }
            shown.status = was
            if was != .expired { shown.reason = nil }
            return shown
        }
        /// Whether its publisher has something to hear. Of what has just been granted it hears by the grant.
        var hasNews: Bool {
            // It may have been told of the grant already, before this was said.
            guard before.status != nil else { return message.note != nil }
            let after = Before(
                status: shown?.status.rawValue, expiresAt: shown?.expiresAt, willRenew: shown?.willRenew,
                ledger: ledger)
            return before.standing != after.standing
                || (before.ledger != ledger && purchases(before) != purchases(after))
        }
        private func purchases(_ words: Before) -> [CustomerPurchase] {
            words.ledger.purchases(
                of: message.name, shown: words.status.flatMap(SubscriptionStanding.Status.init), at: now, leeway: leeway
            )
            .sorted { $0.productID < $1.productID }
        }
        /// Whether the store has said what is to become of it; of what never ends there is nothing to say.
        var isTold: Bool { ledger.renewal != nil || ledger.periods.values.contains { $0.expiresAt == nil } }
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
    func hear(_ answers: ArraySlice<PostgresRows>) throws -> [Heard] {
        let answers = Array(answers)
        var heard = messages.map { Heard(message: $0) }
        for row in answers[0] {
            let index = try row.get(0, as: Int.self) - 1
            heard[index].username = try row.open(7, as: Username.self)
            guard let customer = try row.open(1, as: CustomerID?.self) else { continue }
            heard[index].owner = .init(customer: customer, email: try row.open(2), offerID: try row.get(3))
            heard[index].ownerValidation = try row.validationID(bucket: 4, day: 5, id: 6)
        }
        let places = Dictionary(messages.indices.map { (messages[$0].name, $0) }) { first, _ in first }
        for row in answers[1] {
            let name = SubscriptionName(
                publisher: try row.get(0), environment: try row.get(1), originalTransactionID: try row.get(2))
            guard let index = places[name] else { continue }
            if let state = try row.get(3, as: String?.self) {
                heard[index].ledger = try LedgerJSON.value(SubscriptionLedger.self, state, column: "ledgers.state")
            }
            // What Cleeng granted on, it said to run at that time.
            if let granted = try row.timestampIfSet(4) {
                heard[index].ledger.hear(LedgerWord(end: LedgerEnd(isOver: false, toldAt: granted)))
            }
            heard[index].now = try row.timestamp(5)
            heard[index].bundleID = try row.get(9)
            heard[index].before = Before(
                status: try row.get(6), expiresAt: try row.timestampIfSet(7), willRenew: try row.get(8),
                ledger: heard[index].ledger)
            heard[index].leeway = leeway
        }
        for row in answers[2] {
            let period = try LedgerJSON.value(LedgerPeriod.self, row.get(1), column: "validations.period")
            heard[try row.get(0, as: Int.self) - 1].ledger.hear(LedgerWord(periods: [period]))
        }
        try ContractNews.read(answers[3]) { heard[$0].contract = $1 }
        for index in heard.indices {
            var word = messages[index].word
            // Whoever says that it is over speaks of what is known by now: of a renewal that is told of later they cannot know.
            if let end = word.end, end.isOver, end.until == nil {
                word.end?.until = heard[index].ledger.lastKnownEnd
            }
            heard[index].ledger.hear(word)
        }
        for index in heard.indices {
            // What had moved to where it comes from has moved on with it.
            for old in messages[index].word.movesFrom {
                guard let place = places[messages[index].name.under(old)] else { continue }
                let before = heard[place].ledger.movedFrom.subtracting([messages[index].name.originalTransactionID])
                heard[index].ledger.hear(LedgerWord(movesFrom: before))
            }
            heard[index].standing = heard[index].ledger.standing(at: heard[index].now, leeway: leeway)
        }
        return heard
    }
}

extension SubscriptionName {
    /// In which rows are locked.
    var order: (UInt8, PublisherID, StoreEnvironment, TransactionID) {
        (bucket.number, publisher, environment, originalTransactionID)
    }
}
