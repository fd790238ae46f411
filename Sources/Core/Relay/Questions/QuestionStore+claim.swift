public import Foundation
import Postgres
public import RelayCore

extension QuestionStore {
    /// Claims purchases about which stores must be asked. Questions with more than three attempts have a limit of their
    /// own, so that they do not delay others. Indexes used: `store_questions_fresh`, `store_questions_tired`.
    ///
    /// - Parameters:
    ///   - limits: limit for each store, and half of it for questions with more than three attempts.
    ///   - own: publishers whose own accounts this copy has.
    public func claim(
        _ limits: [StorePlatform: Int], own: [PublisherID] = [], lease: Duration
    ) async throws -> [ClaimedQuestion] {
        func due(_ store: StorePlatform, _ limit: Int, _ attempts: SQL) -> SQL {
            """
            SELECT due.* FROM (
                SELECT q.bucket, q.publisher, q.environment, q.subscription_key
                FROM store_questions q
                WHERE q.store = \(.text(store.rawValue)) AND q.due_at <= now() AND q.parked_at IS NULL AND \(attempts)
                  AND \(PublisherScope.hasAccount(own, "q.publisher"))
                ORDER BY q.due_at
                LIMIT \(.int4(Int32(limit)))
                FOR UPDATE SKIP LOCKED) AS due
            """
        }
        let due = limits.sorted { $0.key.rawValue < $1.key.rawValue }.flatMap { store, limit in
            [due(store, limit, "q.attempts <= 3"), due(store, (limit + 1) / 2, "q.attempts > 3")]
        }
        guard !due.isEmpty else { return [] }
        let rows = try await database.query(
            """
            WITH due AS MATERIALIZED (
                \(due.joined(" UNION ALL "))
            )
            UPDATE store_questions q
            SET owner = \(.text(memory.instance)), fence = q.fence + 1, attempts = q.attempts + 1, \(WorkQueue.strike("q")),
                due_at = now() + \(lease)
            FROM due
            WHERE \(.sameSubscription("q", "due"))
            RETURNING q.publisher, q.environment, q.subscription_key, q.fence, q.attempts, q.signals, q.said_at, q.notification,
                      q.event, q.bundle_id, q.product_id, q.trace, q.expects, q.doubts, q.replaces, q.refunds, q.is_passed, \(WorkQueue.columns("q"))
            """)
        return try await relay.queues.decode(rows) {
            try ClaimedRow(.questions, .subscription($0.subscriptionName()), fence: $0.get("fence"), $0)
        } _: { row, claimed in
            ClaimedQuestion(
                row: claimed, store: StorePlatform(subscriptionKey: try row.get("subscription_key")),
                name: try row.subscriptionName(), attempts: try row.get("attempts"),
                signals: try row.get("signals"), saidAt: try row.timestamp("said_at"),
                notification: try row.get("notification"), event: try row.get("event"),
                bundleID: try row.get("bundle_id"), productID: try row.get("product_id"), trace: try row.get("trace"),
                expects: try row.get("expects", as: Int16?.self).flatMap(ClaimedQuestion.Expectation.init),
                doubts: try row.get("doubts", as: Int.self), replaces: try row.get("replaces"),
                refunds: try row.get("refunds", as: [String].self).map {
                    try LedgerJSON.value(LedgerRefund.self, $0, column: "store_questions.refunds")
                }, isPassed: try row.get("is_passed"))
        }
    }

    /// Ends the claim of an answered question. If a notification came meanwhile, the store is asked again.
    public func end(_ claimed: ClaimedQuestion) async throws {
        // The first statement waits for a transaction that is storing a notification. So the second one sees it.
        let given: SQL = """
            UPDATE store_questions q
            SET owner = NULL, due_at = now(), trouble = NULL, attempts = 0, \(WorkQueue.cleared),
                refunds = q.refunds[\(.int4(Int32(claimed.refunds.count + 1))):]
            WHERE \(isHeld(claimed))
            """
        let ended: SQL = """
            DELETE FROM store_questions q
            WHERE \(claimed.name.isKey(of: "q")) AND q.fence = \(.int4(claimed.row.fence)) AND q.owner IS NULL
              AND q.signals = \(.int4(claimed.signals))
            """
        _ = try await database.withTransaction { try await $0.commit(with: [given, ended]) }
    }

    /// Ends the claim of a question that could not be asked, or whose answer is doubted. A signed notification since
    /// the claim has reset the attempts: the question is then due at once.
    ///
    /// - Parameter doubts: how many more answers may be doubted; nil: unchanged.
    public func postpone(
        _ claimed: ClaimedQuestion, trouble: String, by pause: Duration, doubts: Int? = nil
    ) async throws {
        let isSame: SQL = "q.attempts = \(.int2(Int16(clamping: claimed.attempts)))"
        _ = try await database.query(
            """
            UPDATE store_questions q
            SET owner = NULL, trouble = \(.text(trouble.bounded(200))), \(WorkQueue.cleared),
                due_at = CASE WHEN \(isSame) THEN now() + \(pause) ELSE now() END,
                attempts = CASE WHEN \(isSame) THEN q.attempts ELSE 0 END,
                doubts = CASE WHEN \(isSame) THEN coalesce(\(.int2(doubts.map { Int16($0) })), q.doubts) ELSE q.doubts END
            WHERE \(isHeld(claimed))
            """)
    }

    private func isHeld(_ claimed: ClaimedQuestion) -> SQL {
        """
        \(claimed.name.isKey(of: "q")) AND q.fence = \(.int4(claimed.row.fence)) AND q.owner = \(.text(memory.instance))
        """
    }

    /// The environments of the ledgers with any of these keys. Index used: the primary key.
    public func environments(
        of keys: Set<TransactionID>, publisher: PublisherID
    ) async throws -> Set<StoreEnvironment> {
        guard !keys.isEmpty else { return [] }
        let rows = try await database.query(
            """
            SELECT DISTINCT l.environment
            FROM \(.purchases(keys, of: publisher), as: "i")
            JOIN ledgers l ON \(.sameSubscription("l", "i"))
            """)
        return Set(try rows.map { try $0.get("environment") })
    }

    /// The ledgers with a purchase's key, in any environment. A purchase without a stated period has the product that
    /// was posted. Indexes used: the primary key, `validations_subscription`.
    public func known(_ claimed: ClaimedQuestion) async throws -> [KnownLedger] {
        try await database.query(
            """
            SELECT l.publisher, l.environment, l.subscription_key, l.bundle_id, coalesce(l.product_id, (
                       SELECT v.product_id FROM validations v
                       WHERE \(.sameSubscription("v", "l")) AND v.product_id IS NOT NULL
                       ORDER BY v.accepted_at DESC LIMIT 1)) AS product_id
            FROM ledgers l
            WHERE l.bucket = \(.int2(Int16(claimed.name.bucket.number))) AND l.publisher = \(.text(claimed.name.publisher))
              AND l.environment = ANY (\(.textArray(StoreEnvironment.ofOtherStores)))
              AND l.subscription_key = \(.text(claimed.name.originalTransactionID))
            """
        ).map {
            KnownLedger(
                name: try $0.subscriptionName(), bundleID: try $0.get("bundle_id"), productID: try $0.get("product_id"))
        }
    }
}

extension SQLTable {
    /// Purchases in stores other than Apple's, in each environment in which they may be.
    static func purchases(_ keys: some Sequence<TransactionID>, of publisher: PublisherID) -> SQLTable {
        subscriptions(
            keys.flatMap { key in
                StoreEnvironment.ofOtherStores.map {
                    SubscriptionName(publisher: publisher, environment: $0, originalTransactionID: key)
                }
            })
    }
}

/// A purchase about which this process asks its store while its lease lasts.
public struct ClaimedQuestion: ClaimedItem {
    public let row: ClaimedRow
    public var store: StorePlatform
    /// Always in the environment `unknown`.
    public var name: SubscriptionName
    /// Includes this attempt.
    public var attempts: Int
    /// Number of notifications at the time of the claim.
    var signals: Int32
    /// Signing time of the newest notification.
    public var saidAt: Timestamp
    /// Nil if no notification caused the question.
    public var notification: UUID?
    public var event: String
    public var bundleID: BundleID?
    public var productID: ProductID?
    /// Trace of the request that brought it; see ``StoredTrace``.
    public var trace: String?
    /// The notification's statement, which the answer may contradict; nil if there is none.
    public var expects: Expectation?
    /// How many more answers may be doubted because they contradict the notification.
    public var doubts: Int
    /// The purchase that this one has replaced, according to a notification.
    public var replaces: TransactionID?
    /// Refunds that notifications have reported since the last answer.
    public var refunds: [LedgerRefund]
    /// Whether another publisher's account could not answer it.
    public var isPassed: Bool

    /// The refunds of a question `q` to which more are added, up to a limit.
    static let gatheredRefunds: SQL =
        "CASE WHEN cardinality(q.refunds) < 16 THEN q.refunds || excluded.refunds ELSE q.refunds END"

    static let recheck = "rechecked"
    /// Whether it is a routine check. An unchanged purchase then adds nothing to the timeline.
    public var isRecheck: Bool { event == Self.recheck }

    /// A notification's statement about the purchase. The numbers are stored.
    public enum Expectation: Int16, Sendable {
        /// The purchase is over: it ended, or the store revoked it.
        case isOver = 1
        /// The purchase was bought, renewed or granted.
        case runs = 2
    }

    /// Pauses before a store is asked again after a contradicting answer: its API may lag behind its notifications.
    public static let doubtPauses: [Duration] = [.seconds(10), .seconds(60), .seconds(600), .seconds(3_600)]

    static let mostDoubts = Int16(doubtPauses.count)

    /// The next pause; nil if no more doubts are allowed.
    public var doubtPause: Duration? {
        (1...Self.doubtPauses.count).contains(doubts) ? Self.doubtPauses[Self.doubtPauses.count - doubts] : nil
    }

    /// The notification's entry in the subscription's timeline.
    public func note(_ detail: String) -> LedgerMessage.Note {
        var note = LedgerMessage.Note(event: event, saidAt: saidAt, detail: detail)
        note.notification = notification?.number
        return note
    }
}

/// A ledger with a purchase's key.
public struct KnownLedger: Sendable {
    public var name: SubscriptionName
    public var bundleID: BundleID?
    public var productID: ProductID?
}
