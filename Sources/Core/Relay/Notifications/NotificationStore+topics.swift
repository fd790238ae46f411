import Foundation
import Postgres
public import RelayCore

extension NotificationStore {
    /// Statement that records what a message shows about a topic's subscription. Nil if it shows nothing, or if that
    /// was recorded a moment ago. The message that was sent last counts.
    func note(_ news: TopicStatement?, said id: NotificationID, of publisher: PublisherID) -> SQL? {
        guard let news, news.state != .confirmed || memory.noted.isTime(for: "topic \(news.topic)") else { return nil }
        let confirms = news.state != .confirmed
        return """
            INSERT INTO topic_subscriptions AS t (topic, store, publisher, state, said_at, bucket, accepted_on, notification)
            VALUES (
                \(.text(news.topic)), \(.text(StorePlatform.amazon.rawValue)), \(.text(publisher)), \(.int2(news.state.rawValue)),
                \(.timestamptz(news.saidAt.postgres)), \(.int2(confirms ? Int16(id.bucket.number) : nil)),
                DATE 'epoch' + \(.int4(confirms ? Int32(id.day) : nil)), \(.uuid(confirms ? id.uuid : nil)))
            ON CONFLICT (topic) DO UPDATE SET
                state = excluded.state, said_at = excluded.said_at,
                publisher = CASE WHEN excluded.notification IS NULL THEN t.publisher ELSE excluded.publisher END,
                bucket = coalesce(excluded.bucket, t.bucket), accepted_on = coalesce(excluded.accepted_on, t.accepted_on),
                notification = coalesce(excluded.notification, t.notification)
            WHERE t.said_at < excluded.said_at
              AND (t.state, t.notification) IS DISTINCT FROM (excluded.state, coalesce(excluded.notification, t.notification))
            """
    }

    /// Subscriptions to topics, by name. Reads all of a small table.
    public func topics(in scope: OpsScope) async throws -> [TopicSubscription] {
        try await database.query(
            """
            SELECT t.topic, t.store, t.state, t.said_at, t.bucket, t.accepted_on - DATE 'epoch' AS day, t.notification AS id
            FROM topic_subscriptions t
            WHERE \(scope.includes("t.publisher"))
            ORDER BY t.topic
            LIMIT 100
            """
        ).map { row in
            TopicSubscription(
                topic: try row.get("topic"), store: try row.get("store"),
                state: TopicStatement.State(rawValue: try row.get("state")) ?? .unconfirmed,
                since: try row.timestamp("said_at"),
                notification: try row.get("id", as: UUID?.self) == nil ? nil : try row.validationID())
        }
    }

    /// Records that a subscription has just been confirmed.
    public func confirmed(_ topic: String) async throws {
        _ = try await database.query(
            """
            UPDATE topic_subscriptions
            SET state = \(.int2(TopicStatement.State.confirmed.rawValue)), said_at = greatest(said_at, now())
            WHERE topic = \(.text(topic))
            """)
    }
}

/// This relay's subscription to a topic.
public struct TopicSubscription: Sendable, Equatable {
    public var topic: String
    /// Name of the store, as in ``StorePlatform``.
    public var store: String
    public var state: TopicStatement.State
    /// When the message with this state was sent, or when the subscription was confirmed here.
    public var since: Timestamp
    /// Notification with which the subscription can be confirmed; nil if none came.
    public var notification: NotificationID?
}
