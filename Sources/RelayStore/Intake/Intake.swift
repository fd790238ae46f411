import Logging
import NIOConcurrencyHelpers
import Postgres
import RelayCore

/// The way in: concurrent purchases share one statement and one commit; a bad one fails alone.
public final class Intake: Sendable {
    /// How long the app is to wait, at most, before it is told that it failed.
    public let validationTimeout: Duration
    private let batcher: PostgresBatcher<Queued, AcceptOutcome>

    private struct Queued: Sendable {
        var acceptance: Acceptance
        var since: ContinuousClock.Instant

        var subscription: Subscription {
            Subscription(
                publisher: acceptance.publisher, environment: acceptance.environment, key: acceptance.subscriptionKey)
        }
    }

    private struct Subscription: Hashable {
        var publisher: PublisherID
        var environment: StoreEnvironment
        var key: TransactionID
    }

    /// The last time that the wait for a connection, or for a commit, was in vain.
    private struct Outage: Sendable {
        var error: PostgresError
        var endedAt: ContinuousClock.Instant
    }

    /// - Parameter onAccepted: called after a commit that brought new purchases, so that a worker in this process sets out
    ///   at once.
    public init(store: RelayStore, validationTimeout: Duration, onAccepted: @escaping @Sendable () -> Void) {
        self.validationTimeout = validationTimeout
        let sizes = BatchSizes("intake")
        let outage = NIOLockedValueBox<Outage?>(nil)
        self.batcher = PostgresBatcher(
            maxCount: 256, maxBytes: 8 << 20, concurrentBatches: 2, maxWaiting: 4096,
            // Requests for one subscription are accepted one after the other, so that the order of their commits is the order
            // in which they came.
            size: { $0.acceptance.size },
            key: { $0.subscription },
            flush: { queued in
                // Who was here already while others waited in vain has waited as long: the waits of those that queue behind one
                // another must not add up.
                if let outage = outage.withLockedValue({ $0 }), queued.allSatisfy({ $0.since <= outage.endedAt }) {
                    throw outage.error
                }
                let batch = queued.map(\.acceptance)
                sizes.record(batch.count)
                let rows: PostgresRows
                do {
                    rows = try await store.pool.query(
                        AcceptStatement.query(batch, timeout: validationTimeout), timeout: .seconds(15))
                } catch let error as PostgresError where [.notConnected, .timedOut].contains(error.code) {
                    outage.withLockedValue { $0 = Outage(error: error, endedAt: .now) }
                    throw error
                }
                let outcomes = try AcceptStatement.outcomes(of: rows, for: batch)
                if outcomes.contains(where: \.isNew) { onAccepted() }
                return outcomes.map { .success($0) }
            })
    }

    /// Returns after the commit.
    ///
    /// - Throws: ``PostgresError``: unavailable where the database is away, overloaded where too much waits already.
    public func accept(_ acceptance: Acceptance) async throws -> AcceptOutcome {
        do {
            return try await batcher.submit(Queued(acceptance: acceptance, since: .now))
        } catch let error as PostgresError where error.constraint == "idempotency_key_reused" {
            return .idempotencyKeyReused
        }
    }

    /// Waits until everything that was taken in is committed or failed.
    public func drain() async {
        await batcher.drain()
    }
}

extension RelayStore {
    /// Forgets that a purchase, or its Idempotency-Key, is known by a validation that is no longer kept. Indexes used:
    /// `purchases_pkey`, `idempotency_keys_pkey`, and for the validation its partition's primary key.
    public func forget(_ id: ValidationID, of acceptance: Acceptance) async throws {
        let (purchase, key) = (PostgresValue.bytea(acceptance.purchaseKey), acceptance.idempotencyKey)
        _ = try await pool.query(
            """
            WITH gone AS (
                SELECT WHERE NOT EXISTS (SELECT FROM validations v WHERE \(id.isKey(of: "v")))
            ), bought AS (
                DELETE FROM purchases p
                WHERE p.bucket = get_byte(\(purchase), 0) AND p.key = \(purchase) AND p.id = \(.uuid(id.uuid))
                  AND EXISTS (SELECT FROM gone)
            )
            DELETE FROM idempotency_keys k
            WHERE k.bucket = \(.int2(key.map { Int16($0.bucket.number) })) AND k.api_key = \(.text(key?.apiKey))
              AND k.key = \(.bytea(key?.digest)) AND k.id = \(.uuid(id.uuid)) AND EXISTS (SELECT FROM gone)
            """)
    }
}
