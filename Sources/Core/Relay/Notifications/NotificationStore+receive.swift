import Crypto
import Foundation
import Postgres
public import RelayCore
import Traces

extension NotificationStore {
    private struct Repeated: Error {}

    /// Stores a genuine notification once, with all its consequences. For Apple's, these are the change of the ledger,
    /// changes of grants, and the relay to Cleeng. For another store's, it is the question to that store. All of it is
    /// committed when this returns.
    ///
    /// - Parameters:
    ///   - publisher: the notification's publisher, if known.
    ///   - now: the database's time, whose day becomes part of the id.
    /// - Throws: ``PostgresError``; nothing was stored then, or the outcome is unknown. A retry settles it.
    public func receive(
        _ received: ReceivedNotification, of known: PublisherID? = nil, now: Timestamp
    ) async throws -> ReceiveOutcome {
        try await relay.offers.ready()
        let publisher = if let known { known } else { try await publisher(of: received.notification) }
        let unique = UUID()
        let lane = received.notification.originalTransactionID ?? TransactionID(unique.uuidString)
        var generator = SystemRandomNumberGenerator()
        let id = NotificationID(
            bucket: Bucket(of: publisher, lane), day: UInt16(clamping: now.daysSince1970), using: &generator)
        do {
            let outcome = try await database.retryingConflicts {
                try await receive(received, as: id, lane: lane, publisher: publisher)
            }
            if !received.notification.isUnderstood { report(notUnderstood: received.notification, as: id) }
            return outcome
        } catch is Repeated {
            return .repeated
        }
    }

    private func receive(
        _ received: ReceivedNotification, as id: NotificationID, lane: TransactionID, publisher: PublisherID
    ) async throws -> ReceiveOutcome {
        let messages = Self.messages(of: received.notification, publisher: publisher, id: id)
        let ledgers = LedgerTransaction(messages, memory: memory)
        let notices = try await self.notices(of: received.notification, publisher: publisher)
        let (changed, closing): ([Validation], LedgerTransaction.Closing) = try await database.withTransaction {
            transaction in
            var arrival = Self.arrival(received, as: id, lane: lane, publisher: publisher)
            if let noted = relay.questions.note(received.notification.store, of: publisher) { arrival.append(noted) }
            if let topic = note(received.notification.topic, said: id, of: publisher) { arrival.append(topic) }
            if let asked = ConsumptionStore.request(in: received.notification, publisher: publisher, id: id) {
                arrival.append(asked)
            }
            arrival += DeliveryStatements.enqueue(notices)
            guard !messages.isEmpty else {
                let questions = QuestionStore.ask(after: received.notification, publisher: publisher, id: id)
                let answers = try await transaction.pipeline(arrival + questions)
                guard !answers[0].isEmpty else { throw Repeated() }
                return ([], LedgerTransaction.Closing(asksStores: !questions.isEmpty))
            }
            let answers = try await transaction.pipeline(arrival + ledgers.opening)
            guard !answers[0].isEmpty else { throw Repeated() }
            let closing = try ledgers.apply(answers[arrival.count...]).closing()
            return (try closing.changed(try await transaction.commit(with: closing.queries)), closing)
        }
        relay.publish(changed, closing)
        if !notices.isEmpty { database.afterCommit { memory.signal(.webhooks) } }
        return .stored
    }

    /// Whether the notification was already stored. Index used: the primary key.
    public func isKnown(_ notification: StoreNotification) async throws -> Bool {
        let name = Self.name(of: notification)
        return try await !database.query(
            "SELECT FROM notification_names n WHERE n.bucket = get_byte(\(name), 0) AND n.name = \(name)"
        ).isEmpty
    }

    private static func name(of notification: StoreNotification) -> PostgresValue {
        .bytea(Array(SHA256.hash(data: Array(notification.identity.utf8))))
    }

    private static func arrival(
        _ received: ReceivedNotification, as id: NotificationID, lane: TransactionID, publisher: PublisherID
    ) -> [SQL] {
        let notification = received.notification
        let name = name(of: notification)
        let isRelayed = received.isRelayed(for: publisher)
        let bucket = PostgresValue.int2(Int16(id.bucket.number))
        let acceptedOn: SQL = "DATE 'epoch' + \(.int4(Int32(id.day)))"
        let saidAt: SQL = "coalesce(\(.timestamptz(notification.saidAt?.postgres)), now())"
        let (publisher, environment) = (PostgresValue.text(publisher), PostgresValue.text(notification.environment))
        // Waits for a concurrent insert of the same name. Index used: the primary key.
        let named: SQL = """
            INSERT INTO notification_names (bucket, name, accepted_on, id)
            VALUES (get_byte(\(name), 0), \(name), \(acceptedOn), \(.uuid(id.uuid)))
            ON CONFLICT (bucket, name) DO NOTHING
            RETURNING 1
            """
        let status: OpsNotification.RelayStatus = isRelayed ? .pending : .off
        let archived: SQL = """
            INSERT INTO notifications (
                bucket, accepted_on, id, received_at, said_at, version, relay, publisher, environment, store, type, subtype,
                notification_uuid, bundle_id, subscription_key, type_is_unknown, body, trace, sealed_by)
            VALUES (
                \(bucket), \(acceptedOn), \(.uuid(id.uuid)), now(), \(saidAt), \(.int2(notification.version.rawValue)),
                \(.int2(status.rawValue)), \(publisher), \(environment), \(.text(notification.store.rawValue)),
                \(.text(notification.type)),
                \(.text(notification.subtype)), \(.text(notification.uuid)), \(.text(notification.bundleID)),
                \(.text(notification.originalTransactionID)), \(.bool(!notification.isKnownType)),
                \(.privateBytea(received.body)),
                \(.text(StoredTrace.current)), \(.keyOfBytes))
            """
        guard isRelayed else { return [named, archived] }
        let queued: SQL = """
            INSERT INTO notification_relays (
                bucket, accepted_on, id, due_at, said_at, received_at, publisher, environment, lane)
            VALUES (
                \(bucket), \(acceptedOn), \(.uuid(id.uuid)), now(), \(saidAt), now(), \(publisher), \(environment),
                \(.text(lane)))
            """
        return [named, archived, queued]
    }

    /// One message for the subscription, and one for each of its earlier names.
    static func messages(of notification: StoreNotification, publisher: PublisherID, id: NotificationID)
        -> [LedgerMessage]
    {
        guard let statement = notification.statement, let original = notification.originalTransactionID else {
            return []
        }
        func name(_ key: TransactionID) -> SubscriptionName {
            SubscriptionName(publisher: publisher, environment: notification.environment, originalTransactionID: key)
        }
        var note = LedgerMessage.Note(
            event: notification.type.lowercased(), saidAt: notification.saidAt,
            detail: notification.subtype?.lowercased())
        note.notification = id.uuid.number
        return LedgerMessage(name(original), statement, bundleID: notification.bundleID, note: note).withMoves
    }

    /// Finds a notification's publisher by the first rule that applies: for a store other than Apple, the one that has the
    /// purchase; the only one with keys for the app; the one whose app posted the purchase; the one with the app's newest
    /// key; the first publisher.
    ///
    /// A purchase that its store denied gives no publisher the ownership: an app may post a foreign one. If the store denies
    /// the chosen publisher's account the purchase, others are asked (``QuestionStore/pass(_:to:)``).
    func publisher(of notification: StoreNotification) async throws -> PublisherID {
        let publishers = try await relay.publishers.ids()
        guard publishers.count > 1 else { return publishers.first ?? PublisherID.first }
        let environments =
            notification.store == .apple && notification.environment != .unknown
            ? [notification.environment] : StoreEnvironment.ofOtherStores
        // A changed plan has a new id. Amazon's notification names the former one.
        let keys = [notification.originalTransactionID].compactMap(\.self) + notification.related
        func purchaser(isProven: Bool) async throws -> PublisherID? {
            for key in keys {
                let found = try await self.purchaser(of: key, environments, publishers, isProven: isProven)
                if let found { return found }
            }
            return nil
        }
        if notification.store != .apple, let owner = try await purchaser(isProven: true) { return owner }
        if let bundle = notification.app {
            // Two rows suffice to see whether there is only one. Reads all of a small table.
            let owners = try await database.query(
                """
                SELECT DISTINCT k.publisher FROM api_keys k
                WHERE k.app = \(.text(bundle)) AND k.app <> '' AND k.revoked_at IS NULL LIMIT 2
                """)
            if owners.count == 1, let publisher = try owners.first?.get(0, as: PublisherID.self) { return publisher }
        }
        if let publisher = try await purchaser(isProven: false) { return publisher }
        if let publisher = try await seller(of: notification) { return publisher }
        guard let bundle = notification.app else { return PublisherID.first }
        // The publisher with the app's newest key; valid keys come before revoked ones.
        return try await database.query(
            """
            SELECT k.publisher
            FROM api_keys k
            WHERE k.app = \(.text(bundle)) AND k.app <> ''
            ORDER BY k.revoked_at IS NULL DESC, k.created_at DESC, k.id
            LIMIT 1
            """
        ).first?.get(0) ?? PublisherID.first
    }

    /// The only publisher with granted purchases of the app, for a store that is asked what it took back. Reads all of a
    /// small table.
    private func seller(of notification: StoreNotification) async throws -> PublisherID? {
        guard notification.store.listsVoided, let app = notification.app else { return nil }
        let sellers = try await database.query(
            """
            SELECT DISTINCT s.publisher FROM store_sweeps s
            WHERE s.store = \(.text(notification.store.rawValue)) AND s.app = \(.text(app)) LIMIT 2
            """)
        return sellers.count == 1 ? try sellers.first?.get(0) : nil
    }

    /// The publisher whose app has posted a purchase of the subscription. Indexes used: `validations_subscription`, the
    /// primary key.
    ///
    /// - Parameter isProven: whether the store must have confirmed the purchase, or Cleeng granted it.
    private func purchaser(
        of key: TransactionID, _ environments: [StoreEnvironment], _ publishers: Set<PublisherID>, isProven: Bool
    ) async throws -> PublisherID? {
        let buckets = relay.publishers.buckets(of: key, publishers)
        let key = PostgresValue.text(key)
        let isThere: SQL = "environment = ANY (\(.textArray(environments)))"
        let isProof: SQL =
            isProven
            ? "v.verification = \(Verification.Result.genuine) OR \(Validation.wasGranted)"
            : """
            v.verification <> \(Verification.Result.notGenuine)
            OR v.verification_detail LIKE \(.text("%" + Verification.unpaid))
            """
        let byFeatures = memory.publishers.map { "UNION ALL \($0(key, isThere))" as SQL }
        return try await database.query(
            """
            SELECT known.publisher
            FROM (
                SELECT v.publisher, v.accepted_at
                FROM validations v
                WHERE v.bucket = ANY (\(buckets)) AND v.subscription_key = \(key) AND v.\(isThere)
                  AND (\(isProof))
                UNION ALL
                SELECT s.publisher, s.owned_since
                FROM subscriptions s
                WHERE s.bucket = ANY (\(buckets)) AND s.subscription_key = \(key) AND s.\(isThere)
                \(byFeatures.joined(" "))
            ) AS known
            ORDER BY known.accepted_at DESC
            LIMIT 1
            """
        ).first?.get(0)
    }

    /// Deletes names of notifications that cannot arrive again; a bounded number at a time. The App Store repeats a
    /// notification for a week, and lists it in its history for 180 days.
    public func pruneNames() async throws -> Int {
        try await database.query(
            """
            DELETE FROM notification_names WHERE (bucket, name) IN (
                SELECT bucket, name FROM notification_names
                WHERE accepted_on < (now() AT TIME ZONE 'UTC')::date - 200 LIMIT 5000
                FOR UPDATE SKIP LOCKED)
            """
        ).affectedRows
    }
}

/// A genuine notification to be stored.
public struct ReceivedNotification: Sendable {
    public var notification: StoreNotification
    /// The body as received.
    public var body: [UInt8]
    private let isRelayed: PerPublisher<Bool>

    public init(_ notification: StoreNotification, body: [UInt8], isRelayed: PerPublisher<Bool>) {
        self.notification = notification
        self.body = body
        self.isRelayed = isRelayed
    }

    /// Whether it is relayed to Cleeng.
    func isRelayed(for publisher: PublisherID) -> Bool {
        notification.store == .apple && isRelayed.isRelayed(for: publisher)
    }
}

extension PerPublisher<Bool> {
    /// Whether a publisher's notifications are relayed. If this copy lacks the publisher's account, copies that have it
    /// decide.
    public func isRelayed(for publisher: PublisherID) -> Bool { self[publisher] ?? true }
}

/// Outcome of a received notification. In both cases the transaction is committed.
public enum ReceiveOutcome: Sendable, Equatable {
    case stored
    case repeated
}
