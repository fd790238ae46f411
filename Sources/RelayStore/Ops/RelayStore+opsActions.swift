import Postgres
public import RelayCore

extension RelayStore {
    private static let lockSQL = """
        SELECT \(validationColumns), clock_timestamp() AS now, v.environment, v.subscription_key, v.forwards, v.entitled_before,
               v.driver = \(PurchaseDriver.storekit2.rawValue) OR EXISTS (
                    SELECT FROM receipts r WHERE r.bucket = v.bucket AND r.accepted_on = v.accepted_on AND r.id = v.id)
        FROM validations v
        WHERE v.bucket = $1 AND v.accepted_on = DATE 'epoch' + $2::int4 AND v.id = $3
          AND \(OpsScope.sql("v.publisher", 4))
        FOR UPDATE OF v
        """

    private static let lockPursuitSQL = """
        SELECT p.fence, p.sending AND p.due_at > now(), p.phase = 2
        FROM pursuits p
        WHERE p.bucket = $1 AND p.id = $2 AND \(OpsScope.sql("p.publisher", 3))
        FOR UPDATE
        """

    private static let hasPursuitSQL = "SELECT EXISTS (SELECT FROM pursuits p WHERE p.bucket = $1 AND p.id = $2)"

    /// Old rows are not removed between the look at a validation and its new pursuit: see ``drop(_:under:)``.
    private static let keepOldRowsSQL = "SELECT d.fence FROM duties d WHERE d.name = 'retention' FOR SHARE"

    private static let newerSentSQL = """
        SELECT EXISTS (
                SELECT FROM pursuits q
                WHERE q.bucket = $1 AND q.subscription_key = $2 AND q.publisher IS NOT DISTINCT FROM $3
                  AND q.environment = $5 AND q.accepted_at > $4
                  AND (q.sending OR q.phase IN (1, 4) OR q.forwards > 0))
            OR EXISTS (
                SELECT FROM subscriptions s
                WHERE s.bucket = $1 AND s.subscription_key = $2 AND s.publisher = $3 AND s.environment = $5
                  AND s.accepted_at > $4)
            OR EXISTS (
                SELECT FROM validations v
                WHERE v.bucket = $1 AND v.subscription_key = $2 AND v.publisher = $3 AND v.accepted_at > $4
                  AND v.environment = $5 AND v.forwards > 0 AND v.status <> 2)
        """

    private static let resumeSQL = """
        INSERT INTO pursuits AS p (
            bucket, id, accepted_on, due_at, accepted_at, deadline, fence, forwards, status, publisher, subscription_key,
            customer, entitled_before, environment, phase, sealed_by)
        SELECT v.bucket, v.id, v.accepted_on, now(), v.accepted_at, v.deadline, $4, v.forwards, v.status, v.publisher,
               v.subscription_key, v.customer, v.entitled_before, v.environment,
               \(PurchaseDriver.firstPhaseSQL("v.driver")), v.sealed_by
        FROM validations v
        WHERE v.bucket = $1 AND v.accepted_on = DATE 'epoch' + $2::int4 AND v.id = $3
        ON CONFLICT (bucket, id) DO UPDATE SET
            fence = $4, owner = NULL, due_at = least(p.due_at, now()), retry_at = NULL, read_at = NULL, phase = excluded.phase,
            parked_at = NULL, trouble = NULL, synchronization = NULL, transfers = false, accepted_on = excluded.accepted_on, accepted_at = excluded.accepted_at,
            deadline = excluded.deadline, status = excluded.status, publisher = excluded.publisher,
            subscription_key = excluded.subscription_key, customer = excluded.customer,
            environment = excluded.environment, sealed_by = excluded.sealed_by
        """

    private static let abandonSQL = """
        UPDATE validations v
        SET status = 2, reason = 'abandoned', settled_at = now(), late = v.deadline <= now()
        WHERE v.bucket = $1 AND v.accepted_on = DATE 'epoch' + $2::int4 AND v.id = $3
        RETURNING \(validationColumns)
        """

    private static let endPursuitSQL = "DELETE FROM pursuits WHERE bucket = $1 AND id = $2"

    /// That of a validation which is there and outside the scope stays.
    private static let endOrphanSQL = """
        DELETE FROM pursuits p
        WHERE p.bucket = $1 AND p.id = $3 AND \(OpsScope.sql("p.publisher", 4))
          AND NOT EXISTS (
              SELECT FROM validations v
              WHERE v.bucket = $1 AND v.accepted_on = DATE 'epoch' + $2::int4 AND v.id = $3)
        RETURNING p.publisher
        """

    private static let noteSQL = """
        INSERT INTO timeline (bucket, accepted_on, id, fence, ordinal, at, event, instance, detail)
        VALUES ($1, DATE 'epoch' + $2::int4, $3, $4, 0, clock_timestamp(), $5, $6, $7)
        """

    /// Sends the purchase upstream once more, from now on, until Cleeng has answered. One that waits already keeps its place. The app's view stays as it is until
    /// something new is known. What a pursuit that was parked has in common with its validation is taken from there anew.
    ///
    /// - Parameter by: who wants it, as the timeline shows it.
    /// - Throws: ``OpsRefusal``; `unknown` also where it is outside the scope.
    public func retry(_ id: ValidationID, in scope: OpsScope, by: String, reason: String) async throws {
        try await retry(id, in: scope, by: by, reason: reason, isAudited: true)
    }

    /// - Parameter isAudited: false where it is one of many that are written down together.
    func retry(
        _ id: ValidationID, in scope: OpsScope, by: String, reason: String, isAudited: Bool
    ) async throws {
        try await pool.withTransaction { transaction in
            let locked = try await lock(id, scope, in: transaction)
            guard locked.validation.status.allowsRetry else { throw OpsRefusal.status(locked.validation.status) }
            guard !locked.isSending else { throw OpsRefusal.busy }
            guard locked.hasReceipt else { throw OpsRefusal.receiptGone }
            let newer = try await transaction.query(
                PostgresQuery(
                    Self.newerSentSQL,
                    [
                        .int2(Int16(id.bucket.number)), .text(locked.subscriptionKey),
                        .text(locked.validation.publisher), .timestamptz(locked.validation.acceptedAt.postgres),
                        .text(locked.environment),
                    ]))
            guard try newer.first?.get(0, as: Bool.self) == false else { throw OpsRefusal.superseded }
            _ = try await transaction.pipeline(
                [
                    PostgresQuery(Self.resumeSQL, id.key + [.int4(locked.nextFence)]),
                    note(.retried, id: id, fence: locked.nextFence, by: by, reason: reason),
                ]
                    + (isAudited
                        ? [
                            Self.query(
                                auditing: AuditEntry(
                                    actor: by, .validationRetried, "\(id)", of: locked.validation.publisher,
                                    reason: reason))
                        ] : []))
        }
    }

    /// Ends the pursuit by hand: `rejected`, reason `abandoned`. One that is parked although its validation has ended ends
    /// alone, and so does one whose validation is gone.
    ///
    /// - Throws: ``OpsRefusal``.
    public func abandon(_ id: ValidationID, in scope: OpsScope, by: String, reason: String) async throws {
        @Sendable func audit(of publisher: PublisherID?) -> PostgresQuery {
            Self.query(
                auditing: AuditEntry(actor: by, .validationAbandoned, "\(id)", of: publisher, reason: reason))
        }
        let ended: [Validation] = try await pool.withTransaction { transaction in
            let locked: Locked
            do {
                locked = try await lock(id, scope, in: transaction)
            } catch OpsRefusal.unknown {
                // A pursuit that outlived its validation: there is nobody left to tell, and nothing to send.
                let end = PostgresQuery(Self.endOrphanSQL, id.key + [scope.parameter])
                guard let gone = try await transaction.query(end).first else { throw OpsRefusal.unknown }
                _ = try await transaction.query(audit(of: try gone.get(0)))
                return []
            }
            guard locked.validation.status.allowsAbandon else {
                guard locked.isParked else { throw OpsRefusal.status(locked.validation.status) }
                // Its validation has come to an end without it: that stands, and nothing is left to do.
                _ = try await transaction.pipeline([
                    PostgresQuery(Self.endPursuitSQL, [id.key[0], id.key[2]]),
                    note(.abandoned, id: id, fence: locked.nextFence, by: by, reason: reason),
                    audit(of: locked.validation.publisher),
                ])
                return []
            }
            // Its turn would pass to the subscription's next request while the call is still under way.
            guard !locked.isSending else { throw OpsRefusal.busy }
            let answers = try await transaction.pipeline([
                PostgresQuery(Self.abandonSQL, id.key),
                PostgresQuery(Self.endPursuitSQL, [id.key[0], id.key[2]]),
                Settlement.purchases(of: [id], become: [.rejected]),
                note(.abandoned, id: id, fence: locked.nextFence, by: by, reason: reason),
                audit(of: locked.validation.publisher),
            ])
            return try answers[0].map(Self.stored)
        }
        publish(ended)
    }

    private struct Locked {
        var validation: Validation
        var environment: StoreEnvironment
        var subscriptionKey: TransactionID
        var hasReceipt: Bool
        var nextFence: Int32
        var isSending: Bool
        var isParked: Bool
    }

    /// The pursuit first, as settlements lock it.
    private func lock(
        _ id: ValidationID, _ scope: OpsScope, in transaction: PostgresTransaction
    ) async throws -> Locked {
        let pursuit = try await transaction.pipeline([
            PostgresQuery(Self.keepOldRowsSQL),
            PostgresQuery(Self.lockPursuitSQL, [id.key[0], id.key[2], scope.parameter]),
        ])[1].first
        guard let row = try await transaction.query(PostgresQuery(Self.lockSQL, id.key + [scope.parameter])).first
        else {
            throw OpsRefusal.unknown
        }
        if pursuit == nil {
            // While the validation's lock was waited for another operator may have revived it, and a worker be sending it.
            let found = try await transaction.query(PostgresQuery(Self.hasPursuitSQL, [id.key[0], id.key[2]]))
            guard try found.first?.get(0, as: Bool.self) == false else { throw OpsRefusal.busy }
        }
        let last =
            try await transaction.query(PostgresQuery(Self.lastFenceSQL, id.key)).first?.get(0, as: Int32.self) ?? 0
        let fence = try pursuit?.get(0, as: Int32.self) ?? 0
        return Locked(
            validation: try Self.validation(row), environment: try row.get(16), subscriptionKey: try row.get(17),
            hasReceipt: try row.get(20), nextFence: min(max(last, fence), .max - 1) + 1,
            isSending: try pursuit?.get(1, as: Bool.self) ?? false,
            isParked: try pursuit?.get(2, as: Bool.self) ?? false)
    }

    private static let lastFenceSQL = """
        SELECT coalesce(max(t.fence), 0)
        FROM timeline t
        WHERE t.bucket = $1 AND t.accepted_on = DATE 'epoch' + $2::int4 AND t.id = $3
        """

    private func note(
        _ kind: TimelineEvent.Kind, id: ValidationID, fence: Int32, by: String, reason: String
    ) -> PostgresQuery {
        PostgresQuery(
            Self.noteSQL,
            id.key + [
                .int4(fence), .int2(kind.rawValue), .text(instance), .text("by \(by): \(reason.bounded(400))"),
            ])
    }
}
