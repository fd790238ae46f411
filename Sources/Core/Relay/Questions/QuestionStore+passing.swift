import Postgres
public import RelayCore

/// Questions that go to another publisher's account. Which publisher has a purchase is not known when its first
/// notification arrives, if several have keys for the app.
extension QuestionStore {
    /// Limit of publishers to which one question is passed.
    private static let mostPublishers: Int32 = 16

    /// The publisher, other than the question's, that has a ledger of one of these purchases. Index used: the primary key.
    public func publisher(of keys: Set<TransactionID>, besides question: ClaimedQuestion) async throws -> PublisherID? {
        let publishers = try await relay.publishers.ids().subtracting([question.name.publisher]).sorted()
        guard !keys.isEmpty, !publishers.isEmpty else { return nil }
        let names = publishers.flatMap { publisher in
            keys.flatMap { key in
                StoreEnvironment.ofOtherStores.map {
                    SubscriptionName(publisher: publisher, environment: $0, originalTransactionID: key)
                }
            }
        }
        return try await database.query(
            """
            SELECT s.publisher
            FROM \(.subscriptions(names), as: "i")
            CROSS JOIN LATERAL (SELECT * FROM subscriptions s WHERE \(.sameSubscription("s", "i")) OFFSET 0) AS s
            ORDER BY s.id IS NOT NULL DESC, s.owned_since DESC
            LIMIT 1
            """
        ).first?.get("publisher")
    }

    /// The other publishers with keys for the question's app. Reads all of a small table.
    public func others(for question: ClaimedQuestion) async throws -> [PublisherID] {
        guard let app = question.bundleID else { return [] }
        return try await database.query(
            """
            SELECT DISTINCT k.publisher
            FROM api_keys k
            WHERE k.app = \(.text(app)) AND k.app <> '' AND k.revoked_at IS NULL
              AND k.publisher <> \(.text(question.name.publisher))
            ORDER BY k.publisher
            LIMIT \(.int4(Self.mostPublishers))
            """
        ).map { try $0.get("publisher") }
    }

    /// Asks the same of other publishers' accounts. Such a question is not passed on again.
    public func pass(_ question: ClaimedQuestion, to publishers: [PublisherID]) async throws {
        guard !publishers.isEmpty else { return }
        let targets: SQLTable = [
            "bucket": .int2Array(
                publishers.map { Int16(Bucket(of: $0, question.name.originalTransactionID).number) }),
            "publisher": .textArray(publishers),
        ]
        _ = try await database.query(
            """
            INSERT INTO store_questions AS q (
                bucket, publisher, environment, subscription_key, store, due_at, received_at, said_at, accepted_on, notification,
                event, bundle_id, product_id, trace, expects, doubts, expected_at, replaces, refunds, is_passed)
            SELECT i.bucket, i.publisher, o.environment, o.subscription_key, o.store, now(), o.received_at, o.said_at,
                   o.accepted_on, o.notification, o.event, o.bundle_id, o.product_id, o.trace, o.expects, o.doubts,
                   o.expected_at, o.replaces, o.refunds, true
            FROM store_questions o
            CROSS JOIN \(targets, as: "i")
            WHERE \(question.name.isKey(of: "o"))
            ORDER BY i.bucket, i.publisher
            ON CONFLICT (bucket, publisher, environment, subscription_key) DO UPDATE SET
                signals = q.signals + 1, is_passed = true,
                refunds = \(ClaimedQuestion.gatheredRefunds),
                due_at = CASE WHEN q.owner IS NULL AND q.parked_at IS NULL THEN now() ELSE q.due_at END
            """)
        database.afterCommit { memory.signal(.questions) }
    }
}
