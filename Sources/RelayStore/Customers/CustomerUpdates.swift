import Foundation
import Logging
import NIOConcurrencyHelpers
import Postgres
public import RelayCore

/// Word to the publishers of what changed: takes customers whose purchases changed, reads the purchases as they are now, and puts a
/// message for each endpoint into the queue, all in one transaction.
///
/// A customer's row is locked while that is done, so that of two states of a customer the one with the greater version was read
/// later.
public struct CustomerUpdates: Sendable {
    let store: RelayStore
    let leeway: Duration

    /// - Parameter leeway: how long after its end a subscription that will renew is waited for.
    public init(store: RelayStore, leeway: Duration) {
        self.store = store
        self.leeway = leeway
    }

    /// The last column is the name as it is stored, which is no column of its own to the reader: by it the row is found though nobody can
    /// open it. Index used: `customers_untold`.
    private static let takeSQL = """
        SELECT c.publisher, ROW(c.sealed_by, c.username), c.version, c.reason, c.environment, c.subscription_key,
               c.changed_at, c.trace, c.bucket, c.username || ''
        FROM customers c
        WHERE c.untold_since <= clock_timestamp()
        ORDER BY c.untold_since
        LIMIT $1
        FOR UPDATE SKIP LOCKED
        """

    private static let toldSQL = """
        UPDATE customers c
        SET untold_since = NULL
        FROM unnest($1::int2[], $2::text[], $3::text[]) AS i(bucket, publisher, username)
        WHERE c.bucket = i.bucket AND c.publisher = i.publisher AND c.username = i.username
        """

    private static let raiseSQL = """
        INSERT INTO customers AS c (bucket, publisher, username, changed_at, reason, sealed_by)
        VALUES ($1, $2, $3, clock_timestamp(), 'OTHER', $4)
        ON CONFLICT (bucket, publisher, username) DO UPDATE SET version = c.version + 1
        RETURNING c.version, clock_timestamp()
        """

    /// A customer's row by its own columns: the name may be what cannot be read.
    private struct Key: Sendable {
        var bucket: Int16
        var publisher: PublisherID
        /// As it is stored.
        var username: String

        init(_ row: PostgresRow) throws {
            (bucket, publisher, username) = (try row.get(8), try row.get(0), try row.get(9))
        }
    }

    /// What cannot be told is left alone for this long.
    private static let pause = Duration.seconds(600)

    /// Tells of what changed. Together where it goes; else one by one, so that one that cannot be read harms no other.
    ///
    /// - Returns: how many customers were taken, and how many messages were made of it.
    public func tell(limit: Int) async throws -> (customers: Int, messages: Int) {
        do {
            return try await tell(limit: limit) { _ in }
        } catch let error where error.isForGood {
            var all = (customers: 0, messages: 0)
            while all.customers < limit {
                let taken = NIOLockedValueBox<Key?>(nil)
                do {
                    let one = try await tell(limit: 1) { key in taken.withLockedValue { $0 = key } }
                    guard one.customers > 0 else { break }
                    all = (all.customers + 1, all.messages + one.messages)
                } catch let error where error.isForGood {
                    guard let key = taken.withLockedValue({ $0 }) else { throw error }
                    store.logger.error("a customer's purchases cannot be told", metadata: ["error": "\(error)"])
                    try await putOff(key)
                    all.customers += 1
                }
            }
            return all
        }
    }

    private func tell(
        limit: Int, onTake: @escaping @Sendable (Key) -> Void
    ) async throws -> (customers: Int, messages: Int) {
        // Looked up each time: what was added is told of every change from then on.
        let endpoints = try await store.endpoints(in: .all).filter { $0.isActive && $0.kind == .purchases }
        return try await store.retryingDeadlock {
            try await store.pool.withTransaction { transaction in
                let rows = try await transaction.query(PostgresQuery(Self.takeSQL, [.int4(Int32(limit))]))
                for row in rows { onTake(try Key(row)) }
                let changes = try rows.map(ToldChange.init)
                guard !changes.isEmpty else { return (0, 0) }
                let names = changes.map(\.name)
                let told = PostgresQuery(
                    Self.toldSQL,
                    [
                        .int2Array(names.map { Int16($0.bucket.number) }), .textArray(names.map(\.publisher)),
                        .privateTextArray(names.map(\.username)),
                    ])
                let publishers = Set(endpoints.map(\.publisher))
                let heard = changes.filter { publishers.contains($0.name.publisher) }
                guard !heard.isEmpty else {
                    _ = try await transaction.commit(with: [told])
                    return (changes.count, 0)
                }
                let read = try await purchases(of: heard.map(\.name), transaction)
                let messages = zip(heard, read).flatMap { change, purchases in
                    endpoints.compactMap { change.message(to: $0, purchases) }
                }
                _ = try await transaction.commit(with: [told] + DeliveryStatements.enqueue(messages))
                return (changes.count, messages.count)
            }
        }
    }

    private static let putOffSQL = """
        UPDATE customers c
        SET untold_since = now() + $4::int8 * interval '1 microsecond'
        WHERE c.bucket = $1 AND c.publisher = $2 AND c.username = $3 AND c.untold_since <= clock_timestamp()
        """

    private func putOff(_ key: Key) async throws {
        _ = try await store.pool.query(
            PostgresQuery(
                Self.putOffSQL,
                [.int2(key.bucket), .text(key.publisher), .text(key.username), .int8(Self.pause.microseconds)]))
    }

    private func purchases(
        of names: [CustomerName], _ transaction: PostgresTransaction
    ) async throws -> [CustomerPurchases] {
        try RelayStore.purchases(
            of: names, try await transaction.query(RelayStore.purchasesQuery(names)), leeway: leeway)
    }
}

extension CustomerUpdates {
    /// Tells an endpoint the present state of a customer once more, as a new message with the reason `WEBHOOK_REPEATED`.
    ///
    /// - Parameters:
    ///   - username: the publisher's own name for the customer.
    ///   - endpoint: nil for all of the publisher's that take messages.
    /// - Returns: the new message, of several one; nil where nobody is there to be told.
    public func repeatCustomer(publisher: PublisherID, username: Username, endpoint: EndpointID?) async throws
        -> DeliveryID?
    {
        let endpoints = try await store.endpoints(in: .publisher(publisher)).filter {
            $0.isActive && $0.kind == .purchases && (endpoint == nil || $0.id == endpoint)
        }
        guard !endpoints.isEmpty else { return nil }
        let name = CustomerName(publisher: publisher, username: username)
        return try await store.retryingDeadlock {
            try await store.pool.withTransaction { transaction in
                let rows = try await transaction.query(
                    PostgresQuery(
                        Self.raiseSQL,
                        [
                            .int2(Int16(name.bucket.number)), .text(publisher), .privateText(username), .keyOfTexts,
                        ]))
                guard let row = rows.first else { throw StoreError.missingRow("a customer") }
                let change = ToldChange(
                    name: name, version: try row.get(0), reason: "WEBHOOK_REPEATED", changedAt: try row.timestamp(1))
                let read = try await purchases(of: [name], transaction)
                let messages = endpoints.flatMap { endpoint in
                    read.compactMap { change.message(to: endpoint, $0) }
                }
                _ = try await transaction.commit(with: DeliveryStatements.enqueue(messages))
                return messages.first?.id
            }
        }
    }
}
