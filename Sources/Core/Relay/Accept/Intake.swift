import Logging
import NIOConcurrencyHelpers
import Postgres
public import RelayCore

/// Accepts purchases. Concurrent ones share one statement and one commit; an invalid one fails alone.
public final class Intake: Sendable {
    /// Time between acceptance and deadline, when a poll answers `timed_out`.
    public let validationTimeout: Duration
    private let batcher: PostgresBatcher<Queued, AcceptOutcome>

    private struct Queued: Sendable {
        var acceptance: Acceptance
        var since: ContinuousClock.Instant
    }

    /// The latest failure to get a connection or a commit in time.
    private struct Outage: Sendable {
        var error: PostgresError
        var endedAt: ContinuousClock.Instant
    }

    /// - Parameters:
    ///   - claimer: pursues as many purchases at once as it has capacity for.
    ///   - onAccepted: called after a commit with new purchases that the claimer did not claim, so that a worker of
    ///     this process claims them.
    public init(
        store: RelayStore, validationTimeout: Duration, claimer: (any PurchaseClaimer)? = nil,
        onAccepted: @escaping @Sendable () -> Void
    ) {
        self.validationTimeout = validationTimeout
        let sizes = BatchSizes("intake")
        let outage = NIOLockedValueBox<Outage?>(nil)
        self.batcher = PostgresBatcher(
            maxCount: 256, maxBytes: 8 << 20, maxWaiting: 4096,
            size: { $0.acceptance.size },
            // Requests for one subscription are accepted one after another, so that they commit in order of arrival. One
            // statement cannot write the row of one purchase twice.
            keys: { [$0.acceptance.subscription, $0.acceptance.purchaseKey] },
            flush: { queued in
                // The previous batch waited for the database and failed. Requests that arrived during its wait have
                // waited as long, and fail with it. Otherwise the waits of successive batches would add up.
                if let outage = outage.withLockedValue({ $0 }), queued.allSatisfy({ $0.since <= outage.endedAt }) {
                    throw outage.error
                }
                let batch = queued.map(\.acceptance)
                sizes.record(batch.count)
                do {
                    let outcomes = try await store.purchases.commitAndClaim(batch, timeout: validationTimeout, claimer)
                    if outcomes.contains(where: { $0.outcome.isNew && !$0.isClaimed }) { onAccepted() }
                    return outcomes.map { .success($0.outcome) }
                } catch let error as PostgresError where [.notConnected, .timedOut].contains(error.code) {
                    outage.withLockedValue { $0 = Outage(error: error, endedAt: .now) }
                    throw error
                }
            })
    }

    /// Returns after the commit.
    ///
    /// - Throws: ``PostgresError``: unavailable if the database is away, overloaded if too many purchases wait already.
    public func accept(_ acceptance: Acceptance) async throws -> AcceptOutcome {
        do {
            return try await batcher.submit(Queued(acceptance: acceptance, since: .now))
        } catch let error as PostgresError where error.constraint == "idempotency_key_reused" {
            return .idempotencyKeyReused
        }
    }

    /// Waits until all submitted purchases are committed or have failed.
    public func drain() async {
        await batcher.drain()
    }
}

extension PurchaseStore {
    /// Accepts a batch, and passes claimed purchases to the claimer.
    fileprivate func commitAndClaim(
        _ batch: [Acceptance], timeout: Duration, _ claimer: (any PurchaseClaimer)?
    ) async throws -> [(outcome: AcceptOutcome, isClaimed: Bool)] {
        var places = batch.map { claimer?.reserve($0) ?? false }
        defer { for (place, acceptance) in zip(places, batch) where place { claimer?.release(acceptance) } }
        let claimedAt = ContinuousClock.now
        let ticket = memory.validations.ticket()
        let outcomes: [(outcome: AcceptOutcome, isClaimed: Bool)]
        do {
            outcomes = try await commit(batch, timeout: timeout, places, claimer)
        } catch let error as PostgresError where error.constraint == "pursuits_one_sender" {
            // Another copy is accepting a purchase of the same subscription. This batch claims nothing, because only a
            // regular claim keeps the order.
            outcomes = try await commit(batch, timeout: timeout, [], nil)
        }
        for index in batch.indices {
            guard case .created(let acceptedAt, let deadline) = outcomes[index].outcome else { continue }
            let known = KnownValidation(Validation(batch[index], acceptedAt: acceptedAt, deadline: deadline))
            memory.validations.keep(accepted: known, ticket)
            guard let claimer, outcomes[index].isClaimed else { continue }
            claimer.begin(ClaimedPursuit(batch[index], acceptedAt: acceptedAt, deadline: deadline), since: claimedAt)
            places[index] = false
        }
        return outcomes
    }

    private func commit(
        _ batch: [Acceptance], timeout: Duration, _ wantsClaim: [Bool], _ claimer: (any PurchaseClaimer)?
    ) async throws -> [(outcome: AcceptOutcome, isClaimed: Bool)] {
        let claimant =
            wantsClaim.contains(true)
            ? claimer.map {
                AcceptStatement.Claimant(instance: memory.instance, lease: $0.lease, own: $0.own)
            } : nil
        let query = AcceptStatement.query(batch, timeout: timeout, wantsClaim: wantsClaim, by: claimant)
        return try AcceptStatement.outcomes(of: try await database.query(query, timeout: .seconds(15)), for: batch)
    }

    /// Deletes a purchase's key and its Idempotency-Key, if their validation is no longer stored. Indexes used:
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
