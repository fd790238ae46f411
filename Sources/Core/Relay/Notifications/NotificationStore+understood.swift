import Logging
import Metrics
import Postgres
public import RelayCore

extension StoreNotification {
    /// Whether this version understands the notification. One that is not understood is stored. Only a transaction in it
    /// that could be read changes anything.
    ///
    /// An App Store notification has the environment `unknown` only if it could not be read: see
    /// `SignedNotification.notification()`.
    public var isUnderstood: Bool { (store != .apple || environment != .unknown) && isKnownType }
}

extension OpsNotification {
    /// Whether the version that last received or replayed the notification understood it.
    public var isUnderstood: Bool {
        (store != StorePlatform.apple.rawValue || environment != .unknown) && !isOfUnknownType
    }
}

extension NotificationStore {
    /// Counts and logs a stored notification that this version does not understand.
    func report(notUnderstood notification: StoreNotification, as id: NotificationID) {
        Counter(label: "relay_notifications_not_understood").increment()
        memory.logger.warning(
            "a notification is not understood: replay it with a later version",
            metadata: ["id": "\(id)", "type": "\(notification.type)"])
    }

    /// Completes the row of a notification that was not understood on arrival. Queues its consequences, except those
    /// for ledgers. A second call changes nothing.
    ///
    /// - Parameters:
    ///   - archived: the stored notification.
    ///   - notification: the same, as read by this version.
    /// - Returns: its publisher, which was unknown before.
    func complete(_ archived: OpsNotification, by notification: StoreNotification) async throws -> PublisherID {
        let publisher = try await self.publisher(of: notification)
        let notices = try await self.notices(of: notification, publisher: publisher)
        let consumption = ConsumptionStore.request(in: notification, publisher: publisher, id: archived.id)
        let isFirst = try await database.withTransaction { transaction in
            let completed = try await transaction.query(
                """
                UPDATE notifications n
                SET environment = \(.text(notification.environment)), bundle_id = \(.text(notification.bundleID)),
                    publisher = \(.text(publisher)), type_is_unknown = false,
                    subscription_key = coalesce(n.subscription_key, \(.text(notification.originalTransactionID)))
                WHERE \(archived.id.isKey(of: "n"))
                  AND (n.environment = \(.text(StoreEnvironment.unknown)) OR n.type_is_unknown)
                RETURNING 1
                """)
            guard !completed.isEmpty else { return false }
            let following = DeliveryStatements.enqueue(notices) + (consumption.map { [$0] } ?? [])
            _ = try await transaction.pipeline(following)
            return true
        }
        if isFirst, !notices.isEmpty { database.afterCommit { memory.signal(.webhooks) } }
        return publisher
    }
}
