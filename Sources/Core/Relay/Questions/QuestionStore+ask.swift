import Foundation
import Postgres
public import RelayCore
import Traces

extension QuestionStore {
    /// Reason for asking a store.
    private struct Signal {
        /// Event in the subscription's timeline.
        var event: String
        var expects: ClaimedQuestion.Expectation?
        /// Time of the store's statement; nil: now.
        var saidAt: Timestamp?
        var notification: NotificationID?
        /// The purchase that this one has replaced.
        var replaces: TransactionID?
        var refund: LedgerRefund?
        /// Whether the signal may be forged. The store is then asked only about a purchase that has a ledger.
        var isUnproven = false
    }

    /// Creates a question to the store about each purchase that a notification names.
    ///
    /// Several notifications about one purchase share one question: the answer shows the purchase as of the time of
    /// asking.
    static func ask(after notification: StoreNotification, publisher: PublisherID, id: NotificationID) -> [SQL] {
        guard notification.store != .apple, let key = notification.originalTransactionID else { return [] }
        let replaced = notification.related.filter { $0 != key }
        func ask(
            about key: TransactionID, expects: ClaimedQuestion.Expectation?, replaces: TransactionID?,
            refund: LedgerRefund? = nil
        ) -> SQL {
            self.ask(
                about: key, of: publisher, bundleID: notification.bundleID, productID: notification.productID,
                Signal(
                    event: notification.isUnproven ? "unsigned" : notification.type.lowercased(), expects: expects,
                    saidAt: notification.isUnproven ? nil : notification.saidAt,
                    notification: id, replaces: replaces, refund: refund, isUnproven: notification.isUnproven))
        }
        // An unsigned notification may be forged. It does not contradict the store's answer, and its time is ignored.
        let expected = notification.isUnproven ? nil : notification.expectation
        return [ask(about: key, expects: expected, replaces: replaced.first, refund: notification.refund)]
            + replaced.map { ask(about: $0, expects: nil, replaces: nil) }
    }

    /// Creates a question about a new grant, for a store that requires an acknowledgement.
    static func ask(afterGrantOn name: SubscriptionName, bundleID: BundleID?, productID: ProductID?) -> SQL {
        ask(
            about: name.originalTransactionID, of: name.publisher, bundleID: bundleID, productID: productID,
            Signal(event: "looked_up", expects: .runs))
    }

    /// Creates questions about purchases whose notifications may have been lost.
    public func askAgain(about subscriptions: [LedgerView]) async throws {
        guard !subscriptions.isEmpty else { return }
        let questions = subscriptions.map { one in
            Self.ask(
                about: one.name.originalTransactionID, of: one.name.publisher, bundleID: one.bundleID,
                productID: one.state?.productID, Signal(event: ClaimedQuestion.recheck))
        }
        try await database.withTransaction { _ = try await $0.commit(with: questions) }
        memory.signal(.questions)
    }

    private static func ask(
        about key: TransactionID, of publisher: PublisherID, bundleID: BundleID?, productID: ProductID?,
        _ signal: Signal
    ) -> SQL {
        let store = StorePlatform(subscriptionKey: key)
        let name = SubscriptionName(publisher: publisher, environment: .unknown, originalTransactionID: key)
        // An unsigned notification does not end a pause. Otherwise its sender could cause any number of questions.
        let isNews: SQL = "\(.bool(!signal.isUnproven))"
        return """
            INSERT INTO store_questions AS q (
                bucket, publisher, environment, subscription_key, store, due_at, received_at, said_at, accepted_on, notification,
                event, bundle_id, product_id, trace, expects, doubts, expected_at, replaces, refunds)
            SELECT
                \(.int2(Int16(name.bucket.number))), \(.text(publisher)), \(.text(name.environment)), \(.text(key)),
                \(.text(store.rawValue)), now(), now(), coalesce(\(.timestamptz(signal.saidAt?.postgres)), now()),
                DATE 'epoch' + \(.int4(signal.notification.map { Int32($0.day) })), \(.uuid(signal.notification?.uuid)),
                \(.text(signal.event)), \(.text(bundleID)), \(.text(productID)), \(.text(StoredTrace.current)),
                \(.int2(signal.expects?.rawValue)), \(.int2(signal.expects == nil ? 0 : ClaimedQuestion.mostDoubts)),
                coalesce(\(.timestamptz(signal.saidAt?.postgres)), now()), \(.text(signal.replaces)),
                \(.textArray(signal.refund.map { [LedgerJSON.text($0)] } ?? []))
            \(signal.isUnproven ? isKnown(name) : "")
            ON CONFLICT (bucket, publisher, environment, subscription_key) DO UPDATE SET
                signals = q.signals + 1, replaces = coalesce(q.replaces, excluded.replaces),
                refunds = \(ClaimedQuestion.gatheredRefunds),
                attempts = CASE WHEN \(isNews) THEN 0 ELSE q.attempts END,
                due_at = CASE WHEN q.owner IS NULL AND q.parked_at IS NULL AND \(isNews) THEN excluded.due_at ELSE q.due_at END,
                said_at = greatest(q.said_at, excluded.said_at),
                accepted_on = CASE WHEN excluded.said_at >= q.said_at THEN excluded.accepted_on ELSE q.accepted_on END,
                notification = CASE WHEN excluded.said_at >= q.said_at THEN excluded.notification ELSE q.notification END,
                event = CASE WHEN excluded.said_at >= q.said_at THEN excluded.event ELSE q.event END,
                trace = CASE WHEN excluded.said_at >= q.said_at THEN excluded.trace ELSE q.trace END,
                trouble = CASE WHEN q.owner IS NULL AND q.parked_at IS NULL AND \(isNews) THEN NULL ELSE q.trouble END,
                (expects, doubts, expected_at) = (
                    SELECT CASE WHEN is_newer THEN excluded.expects ELSE q.expects END,
                           -- A doubt whose pause is cut short was none: in a burst of notifications they would all be used up.
                           CASE WHEN is_newer THEN excluded.doubts
                                WHEN q.expects IS NOT NULL AND q.owner IS NULL AND q.trouble IS NOT NULL AND \(isNews)
                                THEN least(q.doubts + 1, \(.int2(ClaimedQuestion.mostDoubts)))
                                ELSE q.doubts END,
                           CASE WHEN is_newer THEN excluded.expected_at ELSE q.expected_at END
                    FROM (SELECT excluded.expects IS NOT NULL
                                 AND (q.expects IS NULL OR excluded.expected_at >= q.expected_at) AS is_newer) AS n),
                -- A grant knows them. A notification may be forged, and replaces nothing.
                bundle_id = CASE WHEN excluded.notification IS NULL THEN coalesce(excluded.bundle_id, q.bundle_id)
                                 ELSE coalesce(q.bundle_id, excluded.bundle_id) END,
                product_id = CASE WHEN excluded.notification IS NULL THEN coalesce(excluded.product_id, q.product_id)
                                  ELSE coalesce(q.product_id, excluded.product_id) END
            """
    }

    /// Whether there is a ledger of the purchase. Index used: the primary key.
    private static func isKnown(_ name: SubscriptionName) -> SQL {
        """
        WHERE EXISTS (
            SELECT FROM ledgers l
            WHERE l.bucket = \(.int2(Int16(name.bucket.number))) AND l.publisher = \(.text(name.publisher))
              AND l.environment = ANY (\(.textArray(StoreEnvironment.ofOtherStores)))
              AND l.subscription_key = \(.text(name.originalTransactionID)))
        """
    }
}

extension StoreEnvironment {
    /// Environments of ledgers of stores other than Apple's. A purchase accepted while its store was unreachable has
    /// `unknown`.
    static let ofOtherStores: [Self] = [.production, .sandbox, .unknown]
}

extension StoreNotification {
    /// Whether the notification says that the purchase ended or runs; nil if neither.
    fileprivate var expectation: ClaimedQuestion.Expectation? {
        switch type {
        case _ where isOver != nil: isOver == true ? .isOver : .runs
        case "VOIDED_PURCHASE", "SUBSCRIPTION_REVOKED", "SUBSCRIPTION_CANCELLED", "ENTITLEMENT_CANCELLED": .isOver
        case "SUBSCRIPTION_PURCHASED", "SUBSCRIPTION_RENEWED", "SUBSCRIPTION_RECOVERED", "SUBSCRIPTION_RESTARTED",
            "ENTITLEMENT_PURCHASED", "SUBSCRIPTION_OUT_OF_GRACE_PERIOD":
            .runs
        default: nil
        }
    }
}
