import Foundation
import Logging
import Metrics
import NIOConcurrencyHelpers
import Postgres
public import RelayCore

/// Notifies publishers of changed purchases. One transaction takes changed customers, reads their purchases, and queues
/// a message for each endpoint.
///
/// It locks the customer's row meanwhile. So a message with a greater version contains a later state.
public struct CustomerUpdates: Sendable {
    let store: RelayStore

    public init(store: RelayStore) {
        self.store = store
    }

    /// Time until a customer whose purchases cannot be read is taken again.
    private static let pause = Duration.seconds(600)

    /// Queues messages about changes. Processes all customers at once, or one by one if a row cannot be read or takes too
    /// long, so that it does not block the others.
    ///
    /// - Returns: number of processed customers and of queued messages.
    public func queueMessages(limit: Int) async throws -> (customers: Int, messages: Int) {
        do {
            return try await queueMessages(limit: limit) { _ in }
        } catch let error where error.isForGood || error.isOverTime {
            var all = (customers: 0, messages: 0)
            while all.customers < limit {
                let taken = NIOLockedValueBox<CustomerUpdate.Key?>(nil)
                do {
                    let one = try await queueMessages(limit: 1) { key in taken.withLockedValue { $0 = key } }
                    guard one.customers > 0 else { break }
                    all = (all.customers + 1, all.messages + one.messages)
                } catch let error where error.isForGood || error.isOverTime {
                    guard let key = taken.withLockedValue({ $0 }) else { throw error }
                    store.memory.logger.error(
                        "a customer's update cannot be sent",
                        metadata: [
                            "publisher": "\(key.publisher)", "bucket": "\(key.bucket)",
                            "retry_seconds": "\(Self.pause / .seconds(1))", "error": "\(error)",
                        ])
                    Counter(label: "relay_worker_failures", dimensions: [("worker", "customer_updates")]).increment()
                    try await putOff(key)
                    all.customers += 1
                    // If the database is slow, each round puts one customer off.
                    if error.isOverTime { return all }
                }
            }
            return all
        }
    }

    private func queueMessages(
        limit: Int, onTake: @escaping @Sendable (CustomerUpdate.Key) -> Void
    ) async throws -> (customers: Int, messages: Int) {
        try await store.database.retryingConflicts {
            try await store.database.withTransaction { transaction in
                let rows = try await transaction.query(CustomerUpdate.take(limit: limit))
                for row in rows { onTake(try CustomerUpdate.Key(row)) }
                let changes = try rows.map(CustomerUpdate.init)
                guard !changes.isEmpty else { return (0, 0) }
                // Read after the changes, since a new endpoint receives every change from then on.
                let endpoints = try await WebhookStore.endpoints(in: transaction)
                    .filter { $0.isActive && $0.kind == .purchases }
                let clearing: SQL = """
                    UPDATE customers c
                    SET untold_since = NULL
                    FROM \(.customers(changes.map(\.name)), as: "i")
                    WHERE c.bucket = i.bucket AND c.publisher = i.publisher AND c.username = i.username
                    """
                let publishers = Set(endpoints.map(\.publisher))
                let received = changes.filter { publishers.contains($0.name.publisher) }
                guard !received.isEmpty else {
                    _ = try await transaction.commit(with: [clearing])
                    return (changes.count, 0)
                }
                let read = try await purchases(of: received.map(\.name), transaction)
                let now = store.memory.clock.nowOrHostTime
                let messages = zip(received, read).flatMap { change, purchases in
                    endpoints.compactMap { change.message(to: $0, purchases, at: now) }
                }
                _ = try await transaction.commit(with: [clearing] + DeliveryStatements.enqueue(messages))
                return (changes.count, messages.count)
            }
        }
    }

    /// `untold_since` is the time from which the message is due. Here it is in the future.
    private func putOff(_ key: CustomerUpdate.Key) async throws {
        _ = try await store.database.query(
            """
            UPDATE customers c
            SET untold_since = now() + \(Self.pause)
            WHERE c.bucket = \(.int2(key.bucket)) AND c.publisher = \(.text(key.publisher))
              AND c.username = \(.text(key.username)) AND c.untold_since <= clock_timestamp()
            """)
    }

    private func purchases(
        of names: [CustomerName], _ transaction: PostgresTransaction
    ) async throws -> [CustomerPurchases] {
        try store.customers.purchases(
            of: names, try await transaction.query(CustomerStore.purchasesQuery(names)))
    }
}

extension CustomerUpdates {
    /// Queues a customer's present state for an endpoint again, as a new message with the reason `WEBHOOK_REPEATED`.
    ///
    /// - Parameters:
    ///   - username: the publisher's own name for the customer.
    ///   - endpoint: nil for all active endpoints of the publisher.
    /// - Returns: the new messages; empty if no endpoint is active, or the customer has no known purchase.
    public func repeatCustomer(publisher: PublisherID, username: Username, endpoint: EndpointID?) async throws
        -> [DeliveryID]
    {
        let endpoints = try await store.webhooks.endpoints(in: .publisher(publisher)).filter {
            $0.isActive && $0.kind == .purchases && (endpoint == nil || $0.id == endpoint)
        }
        guard !endpoints.isEmpty else { return [] }
        let name = CustomerName(publisher: publisher, username: username)
        return try await store.database.retryingConflicts {
            try await store.database.withTransaction { transaction in
                let rows = try await transaction.query(
                    """
                    INSERT INTO customers AS c (bucket, publisher, username, changed_at, reason, sealed_by)
                    VALUES (
                        \(.int2(Int16(name.bucket.number))), \(.text(publisher)), \(.privateText(username)),
                        clock_timestamp(), 'OTHER', \(.keyOfTexts))
                    ON CONFLICT (bucket, publisher, username) DO UPDATE SET version = c.version + 1
                    RETURNING c.version, clock_timestamp() AS now
                    """)
                guard let row = rows.first else { throw StoreError.missingRow("a customer") }
                let change = CustomerUpdate(
                    name: name, version: try row.get("version"), reason: CustomerUpdate.repeated,
                    changedAt: try row.timestamp("now"))
                let read = try await purchases(of: [name], transaction)
                guard read.contains(where: change.isOfKnownCustomer) else { return [] }
                let messages = endpoints.flatMap { endpoint in
                    read.compactMap { change.message(to: endpoint, $0, at: change.changedAt) }
                }
                _ = try await transaction.commit(with: DeliveryStatements.enqueue(messages))
                return messages.map(\.id)
            }
        }
    }

    /// Repeats the current state for all targets of a filter. A customer that cannot be read does not stop the others.
    ///
    /// - Parameter outcome: complete up to the error if one is thrown.
    public func repeatAll(_ filter: RepeatFilter, in scope: OpsScope, _ outcome: inout RepeatOutcome) async throws {
        try await store.webhooks.eachRepeatPage(filter, in: scope) { page in
            for target in page {
                do {
                    guard let username = target.username else { throw StoreError.unreadable(column: "lane") }
                    outcome.sent += try await repeatCustomer(
                        publisher: target.publisher, username: username, endpoint: target.endpoint
                    ).count
                } catch let error where error.isForGood {
                    outcome.failed += 1
                    guard outcome.reasons.count < RepeatOutcome.mostReasons else { continue }
                    outcome.reasons.append("publisher \(target.publisher), endpoint \(target.endpoint): \(error)")
                }
            }
        }
    }
}
