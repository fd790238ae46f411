import Crypto
import Foundation
import Postgres
public import RelayCore
import Traces

extension RelayStore {
    /// Whoever has the app's newest key; one that is still good comes first.
    private static let keySQL = """
        SELECT k.publisher
        FROM api_keys k
        WHERE k.app = $1 AND k.app <> ''
        ORDER BY k.revoked_at IS NULL DESC, k.created_at DESC, k.id
        LIMIT 1
        """

    /// Two at most: whether it is one's alone. The whole of a small table.
    private static let bundleSQL = """
        SELECT DISTINCT k.publisher FROM api_keys k WHERE k.app = $1 AND k.app <> '' AND k.revoked_at IS NULL LIMIT 2
        """

    /// Whoever's app has sent a purchase of it, and not one that somebody made up. Indexes used: `validations_subscription`, the primary key.
    private static let purchaserSQL = """
        SELECT known.publisher
        FROM (
            SELECT v.publisher, v.accepted_at
            FROM validations v
            WHERE v.bucket = ANY ($1::int2[]) AND v.subscription_key = $2 AND v.environment = $3
            UNION ALL
            SELECT s.publisher, s.owned_since
            FROM subscriptions s
            WHERE s.bucket = ANY ($1::int2[]) AND s.subscription_key = $2 AND s.environment = $3
            UNION ALL
            SELECT c.publisher, c.added_at
            FROM contract_subscriptions c
            WHERE c.subscription_key = $2 AND c.environment = $3
        ) AS known
        ORDER BY known.accepted_at DESC
        LIMIT 1
        """

    /// Waits for whoever takes the same name in at this moment. Index used: the primary key.
    private static let nameSQL = """
        INSERT INTO notification_names (bucket, name, accepted_on, id)
        VALUES (get_byte($1, 0), $1, DATE 'epoch' + $2::int4, $3)
        ON CONFLICT (bucket, name) DO NOTHING
        RETURNING 1
        """

    private static let archiveSQL = """
        INSERT INTO notifications (
            bucket, accepted_on, id, received_at, said_at, version, relay, publisher, environment, type, subtype,
            notification_uuid, bundle_id, subscription_key, body, trace, sealed_by)
        VALUES ($1, DATE 'epoch' + $2::int4, $3, now(), coalesce($4, now()), $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15,
                $16)
        """

    private static let relaySQL = """
        INSERT INTO notification_relays (
            bucket, accepted_on, id, due_at, said_at, received_at, publisher, environment, lane)
        VALUES ($1, DATE 'epoch' + $2::int4, $3, now(), coalesce($4, now()), now(), $5, $6, $7)
        """

    private struct Repeated: Error {}

    /// Takes a genuine notification in, once, with everything that follows from it: the ledger, what was granted on the
    /// subscription, the way on to Cleeng. All of it is committed when this returns.
    ///
    /// - Parameters:
    ///   - leeway: how long after its end a subscription that will renew is waited for.
    ///   - now: the database's time, for the day in its id.
    /// - Throws: ``PostgresError``; then nothing of it was taken in, or it is not known, and the same again finds out.
    public func receive(
        _ received: ReceivedNotification, leeway: Duration, now: Timestamp
    ) async throws -> ReceiveOutcome {
        let publisher = try await publisher(of: received.notification)
        let unique = UUID()
        let lane = received.notification.originalTransactionID ?? TransactionID(unique.uuidString)
        var generator = SystemRandomNumberGenerator()
        let id = NotificationID(
            bucket: Bucket(of: publisher, lane), day: UInt16(clamping: now.daysSince1970), using: &generator)
        do {
            return try await retryingDeadlock {
                try await receive(received, as: id, lane: lane, publisher: publisher, leeway: leeway)
            }
        } catch is Repeated {
            return .repeated
        }
    }

    private func receive(
        _ received: ReceivedNotification, as id: NotificationID, lane: TransactionID, publisher: PublisherID,
        leeway: Duration
    ) async throws -> ReceiveOutcome {
        let messages = Self.messages(of: received.notification, publisher: publisher, id: id)
        let hearing = LedgerHearing(messages, instance: instance, leeway: leeway, catalogue: catalogue)
        let (changed, closing): ([Validation], LedgerHearing.Closing) = try await pool.withTransaction { transaction in
            let arrival = Self.arrival(received, as: id, lane: lane, publisher: publisher)
            guard !messages.isEmpty else {
                let answers = try await transaction.pipeline(arrival)
                guard !answers[0].isEmpty else { throw Repeated() }
                return ([], LedgerHearing.Closing())
            }
            let answers = try await transaction.pipeline(arrival + hearing.opening)
            guard !answers[0].isEmpty else { throw Repeated() }
            let heard = try hearing.hear(answers[arrival.count...])
            let closing = hearing.closing(heard)
            return (try closing.changed(try await transaction.commit(with: closing.queries)), closing)
        }
        publish(changed, closing)
        return .stored
    }

    private static func arrival(
        _ received: ReceivedNotification, as id: NotificationID, lane: TransactionID, publisher: PublisherID
    ) -> [PostgresQuery] {
        let notification = received.notification
        let name = Array(SHA256.hash(data: Array(notification.identity.utf8)))
        var queries = [
            PostgresQuery(nameSQL, [.bytea(name), .int4(Int32(id.day)), .uuid(id.uuid)]),
            PostgresQuery(
                archiveSQL,
                id.key + [
                    .timestamptz(notification.saidAt?.postgres), .int2(notification.version.rawValue),
                    .int2(received.isRelayed(for: publisher) ? 1 : 0), .text(publisher),
                    .text(notification.environment),
                    .text(notification.type), .text(notification.subtype), .text(notification.uuid),
                    .text(notification.bundleID), .text(notification.originalTransactionID),
                    .privateBytea(received.body),
                    .text(StoredTrace.current), .keyOfBytes,
                ]),
        ]
        if received.isRelayed(for: publisher) {
            queries.append(
                PostgresQuery(
                    relaySQL,
                    id.key + [
                        .timestamptz(notification.saidAt?.postgres), .text(publisher),
                        .text(notification.environment), .text(lane),
                    ]))
        }
        return queries
    }

    /// One for the subscription, and one for each that it was before.
    static func messages(of notification: StoreNotification, publisher: PublisherID, id: NotificationID)
        -> [LedgerMessage]
    {
        guard let word = notification.word, let original = notification.originalTransactionID else { return [] }
        func name(_ key: TransactionID) -> SubscriptionName {
            SubscriptionName(publisher: publisher, environment: notification.environment, originalTransactionID: key)
        }
        var note = LedgerMessage.Note(
            event: notification.type.lowercased(), saidAt: notification.saidAt,
            detail: notification.subtype?.lowercased())
        note.notification = id.uuid
        return LedgerMessage(name(original), word, bundleID: notification.bundleID, note: note).withMoves
    }

    /// Whose it is: of several publishers the one that alone has keys for its app, else the one whose app has sent a purchase of it,
    /// else whoever has a key for the app, else the first.
    private func publisher(of notification: StoreNotification) async throws -> PublisherID {
        let publishers = try await publishers()
        guard publishers.count > 1 else { return publishers.first ?? PublisherID.first }
        // An app that one publisher alone has keys for is that one's, whatever others send about its purchases.
        if let bundle = notification.bundleID {
            let owners = try await pool.query(PostgresQuery(Self.bundleSQL, [.text(bundle)]))
            if owners.count == 1, let publisher = try owners.first?.get(0, as: PublisherID.self) { return publisher }
        }
        if let key = notification.originalTransactionID {
            let rows = try await pool.query(
                PostgresQuery(
                    Self.purchaserSQL, [buckets(of: key, publishers), .text(key), .text(notification.environment)]))
            if let publisher = try rows.first?.get(0, as: PublisherID.self) { return publisher }
        }
        guard let bundle = notification.bundleID else { return PublisherID.first }
        return try await pool.query(PostgresQuery(Self.keySQL, [.text(bundle)])).first?.get(0) ?? PublisherID.first
    }

    private static let publishersSQL = "SELECT id FROM publishers"

    /// The first one may have notifications before it has a key.
    func publishers() async throws -> Set<PublisherID> {
        let rows = try await pool.query(PostgresQuery(Self.publishersSQL))
        return Set(try rows.map { try $0.get(0) }).union([PublisherID.first])
    }

    /// Those whose rows may be looked for.
    func publishers(in scope: OpsScope) async throws -> Set<PublisherID> {
        if let publisher = scope.publisher { return [publisher] }
        return try await publishers()
    }

    /// Where each publisher's rows of a subscription are.
    func buckets<Kind>(of key: Identifier<Kind>, _ publishers: Set<PublisherID>) -> PostgresValue {
        .int2Array(Set(publishers.map { Int16(Bucket(of: $0, key).number) }).sorted())
    }

    /// Who has what names no other.

    /// Once more where the server has ended the transaction for another's sake.
    func retryingDeadlock<T: Sendable>(_ body: @Sendable () async throws -> T) async throws -> T {
        // Within a transaction, whoever began it begins it again.
        guard !pool.isTransaction else { return try await body() }
        for _ in 0..<Self.mostConflicts {
            do {
                return try await body()
            } catch let error as PostgresError where error.isConflict {
                continue
            }
        }
        return try await body()
    }

    private static let mostConflicts = 4
}

extension PostgresError {
    /// Whether two transactions met, and this one would succeed after the other. Two that make the row of the same subscription meet in the
    /// index that the insert waits for, or in the other unique one.
    fileprivate var isConflict: Bool {
        ["40P01", "40001"].contains(sqlState) || (sqlState == "23505" && constraint == "subscriptions_owner_no")
    }
}
