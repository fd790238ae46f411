import Logging
import NIOConcurrencyHelpers
import Postgres
import RelayCore

/// The way in: concurrent purchases share one statement and one commit; a bad one fails alone.
public final class Intake: Sendable {
    /// Time between acceptance and deadline, when a poll answers `timed_out`.
    public let validationTimeout: Duration
    private let batcher: PostgresBatcher<Queued, AcceptOutcome>

    private struct Queued: Sendable {
        var acceptance: Acceptance
        var since: ContinuousClock.Instant
    }

    /// The last time that the wait for a connection, or for a commit, failed.
    private struct Outage: Sendable {
        var error: PostgresError
        var endedAt: ContinuousClock.Instant
    }

    /// - Parameters:
    ///   - taker: pursues at once as many as it has capacity for.
    ///   - onAccepted: called after a commit that brought new purchases which nobody has taken, so that a worker in this process claims
    ///     them.
    public init(
        store: RelayStore, validationTimeout: Duration, taker: (any PurchaseTaker)? = nil,
        onAccepted: @escaping @Sendable () -> Void
    ) {
        self.validationTimeout = validationTimeout
        let sizes = BatchSizes("intake")
        let outage = NIOLockedValueBox<Outage?>(nil)
        self.batcher = PostgresBatcher(
            maxCount: 256, maxBytes: 8 << 20, maxWaiting: 4096,
            // Requests for one subscription are accepted one after the other, so that the order of their commits is the order
            // in which they came.
            size: { $0.acceptance.size },
            key: { $0.acceptance.subscription },
            flush: { queued in
                // The batch before waited for the database without success, and these requests were here meanwhile. They have waited as long, and
                // fail with it: each batch would else add its own wait to those of the next.
                if let outage = outage.withLockedValue({ $0 }), queued.allSatisfy({ $0.since <= outage.endedAt }) {
                    throw outage.error
                }
                let batch = queued.map(\.acceptance)
                sizes.record(batch.count)
                do {
                    let outcomes = try await store.purchases.accept(batch, timeout: validationTimeout, taker)
                    if outcomes.contains(where: { $0.outcome.isNew && !$0.isHeld }) { onAccepted() }
                    return outcomes.map { .success($0.outcome) }
                } catch let error as PostgresError where [.notConnected, .timedOut].contains(error.code) {
                    outage.withLockedValue { $0 = Outage(error: error, endedAt: .now) }
                    throw error
                }
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

extension PurchaseStore {
    /// Accepts a batch, and hands over to the taker what was claimed for it.
    fileprivate func accept(
        _ batch: [Acceptance], timeout: Duration, _ taker: (any PurchaseTaker)?
    ) async throws -> [(outcome: AcceptOutcome, isHeld: Bool)] {
        var places = batch.map { taker?.reserve($0) ?? false }
        defer { for (place, acceptance) in zip(places, batch) where place { taker?.release(acceptance) } }
        let claimedAt = ContinuousClock.now
        let ticket = memory.validations.ticket()
        let outcomes: [(outcome: AcceptOutcome, isHeld: Bool)]
        do {
            outcomes = try await accept(batch, timeout: timeout, places, taker)
        } catch let error as PostgresError where error.constraint == "pursuits_one_sender" {
            // Another copy accepts one of the same subscription in this instant. Nothing is claimed: claims keep the order.
            outcomes = try await accept(batch, timeout: timeout, [], nil)
        }
        for index in batch.indices {
            guard case .created(let acceptedAt, let deadline) = outcomes[index].outcome else { continue }
            let known = KnownValidation(Validation(batch[index], acceptedAt: acceptedAt, deadline: deadline))
            memory.validations.keep(accepted: known, ticket)
            guard let taker, outcomes[index].isHeld else { continue }
            taker.begin(ClaimedPursuit(batch[index], acceptedAt: acceptedAt, deadline: deadline), since: claimedAt)
            places[index] = false
        }
        return outcomes
    }

    private func accept(
        _ batch: [Acceptance], timeout: Duration, _ isTaken: [Bool], _ taker: (any PurchaseTaker)?
    ) async throws -> [(outcome: AcceptOutcome, isHeld: Bool)] {
        let claimant =
            isTaken.contains(true)
            ? taker.map {
                AcceptStatement.Claimant(instance: memory.instance, lease: $0.lease, own: $0.own)
            } : nil
        let query = AcceptStatement.query(batch, timeout: timeout, isTaken: isTaken, by: claimant)
        return try AcceptStatement.outcomes(of: try await database.query(query, timeout: .seconds(15)), for: batch)
    }

    /// Forgets that a purchase, or its Idempotency-Key, is known by a validation that is no longer kept. Indexes used:
    /// `purchases_pkey`, `idempotency_keys_pkey`, and for the validation its partition's primary key.
    public func forget(_ id: ValidationID, of acceptance: Acceptance) async throws {
        let (purchase, key) = (PostgresValue.bytea(acceptance.purchaseKey), acceptance.idempotencyKey)
        _ = try await database.query(
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
