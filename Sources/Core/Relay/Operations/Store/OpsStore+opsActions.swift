import Postgres
public import RelayCore

extension OpsStore {
    /// Sends the purchase to Cleeng again until Cleeng has answered. A waiting pursuit keeps its place. The app sees
    /// the present status until there is a new result. A parked pursuit reads its copies of the validation's columns
    /// anew.
    ///
    /// - Parameter by: name of the operator in the timeline.
    /// - Returns: the purchase's publisher.
    /// - Throws: ``OpsRefusal``; `unknown` if the purchase is outside the scope.
    public func retry(_ id: ValidationID, in scope: OpsScope, by: String, reason: String) async throws -> PublisherID {
        try await database.withTransaction { transaction in
            let locked = try await lock(id, scope, in: transaction)
            guard locked.validation.status.allowsRetry else { throw OpsRefusal.status(locked.validation.status) }
            guard !locked.isSending else { throw OpsRefusal.busy }
            guard locked.hasReceipt else { throw OpsRefusal.receiptGone }
            let newer = try await transaction.query(Self.newerIsSent(than: locked))
            guard try newer.first?.get(0, as: Bool.self) == false else { throw OpsRefusal.superseded }
            _ = try await transaction.commit(with: [
                Self.resume(id, fence: locked.nextFence),
                note(.retried, id: id, fence: locked.nextFence, by: by, reason: reason),
            ])
            return locked.validation.publisher
        }
    }

    /// Ends a purchase by an operator's decision: `rejected` with reason `abandoned`. If its validation has ended or is
    /// gone, only the pursuit is deleted: it is parked, or an operator has retried a rejected purchase.
    ///
    /// - Returns: the purchase's publisher; nil if it is unknown.
    /// - Throws: ``OpsRefusal``.
    public func abandon(
        _ id: ValidationID, in scope: OpsScope, by: String, reason: String
    ) async throws -> PublisherID? {
        let (publisher, ended): (PublisherID?, [Validation]) = try await database.withTransaction { transaction in
            let locked: Locked
            do {
                locked = try await lock(id, scope, in: transaction)
            } catch OpsRefusal.unknown {
                // The pursuit exists without its validation: no app waits for it, and its receipt is gone.
                guard let gone = try await transaction.query(Self.endOrphan(id, in: scope)).first else {
                    throw OpsRefusal.unknown
                }
                return (try gone.get(0), [])
            }
            let publisher = locked.validation.publisher
            let end: SQL = """
                DELETE FROM pursuits WHERE bucket = \(.int2(Int16(id.bucket.number))) AND id = \(.uuid(id.uuid))
                """
            let note = note(.abandoned, id: id, fence: locked.nextFence, by: by, reason: reason)
            let status = locked.validation.status
            guard status.allowsAbandon || locked.isParked || locked.isPursued && status == .rejected else {
                throw OpsRefusal.status(status)
            }
            // A call is under way. Without the pursuit, the subscription's next request could start before it ends.
            guard !locked.isSending else { throw OpsRefusal.busy }
            guard status.allowsAbandon else {
                _ = try await transaction.commit(with: [Self.keep(id), end, note])
                return (publisher, [])
            }
            let answers = try await transaction.commit(with: [
                Self.keep(id), Self.abandon(id), end, Settlement.purchases(of: [id], become: [.rejected]), note,
            ])
            return (publisher, try answers[1].map(PurchaseStore.stored))
        }
        relay.publish(ended)
        return publisher
    }

    private struct Locked {
        var validation: Validation
        var environment: StoreEnvironment
        var subscriptionKey: TransactionID
        var hasReceipt: Bool
        var nextFence: Int32
        var isPursued: Bool
        var isSending: Bool
        var isParked: Bool
    }

    /// Locks the pursuit first, then the validation, in the order of settlements.
    private func lock(
        _ id: ValidationID, _ scope: OpsScope, in transaction: PostgresTransaction
    ) async throws -> Locked {
        let isPursuit: SQL = "p.bucket = \(.int2(Int16(id.bucket.number))) AND p.id = \(.uuid(id.uuid))"
        let pursuit = try await transaction.pipeline([
            // The lock stops the removal of old rows until the validation has its new pursuit: see ``drop(_:under:)``.
            "SELECT d.fence FROM duties d WHERE d.name = 'retention' FOR SHARE",
            """
            SELECT p.fence, p.sending AND p.due_at > now() AS is_sending, p.phase = \(Pursuit.Phase.parked) AS is_parked
            FROM pursuits p
            WHERE \(isPursuit) AND \(scope.includes("p.publisher"))
            FOR UPDATE
            """,
        ])[1].first
        let found = try await transaction.query(
            """
            SELECT \(Validation.columns), clock_timestamp() AS now, v.environment, v.subscription_key,
                   v.driver = \(PurchaseDriver.storekit2) OR EXISTS (
                        SELECT FROM receipts r WHERE r.bucket = v.bucket AND r.accepted_on = v.accepted_on AND r.id = v.id)
                   AS has_receipt
            FROM validations v
            WHERE \(id.isKey(of: "v")) AND \(scope.includes("v.publisher"))
            FOR UPDATE OF v
            """)
        guard let row = found.first else { throw OpsRefusal.unknown }
        if pursuit == nil {
            // While this waited for the validation's lock, another operator may have retried the purchase.
            let found = try await transaction.query("SELECT EXISTS (SELECT FROM pursuits p WHERE \(isPursuit))")
            guard try found.first?.get(0, as: Bool.self) == false else { throw OpsRefusal.busy }
        }
        let last =
            try await transaction.query(
                "SELECT coalesce(max(t.fence), 0) FROM timeline t WHERE \(id.isKey(of: "t"))"
            ).first?.get(0, as: Int32.self) ?? 0
        let fence = try pursuit?.get("fence", as: Int32.self) ?? 0
        return Locked(
            validation: try PurchaseStore.validation(row), environment: try row.get("environment"),
            subscriptionKey: try row.get("subscription_key"), hasReceipt: try row.get("has_receipt"),
            nextFence: min(max(last, fence), .max - 1) + 1,
            isPursued: pursuit != nil, isSending: try pursuit?.get("is_sending", as: Bool.self) ?? false,
            isParked: try pursuit?.get("is_parked", as: Bool.self) ?? false)
    }

    private static func newerIsSent(than locked: Locked) -> SQL {
        func isNewer(_ row: SQL) -> SQL {
            """
            \(row).bucket = \(.int2(Int16(locked.validation.id.bucket.number)))
              AND \(row).subscription_key = \(.text(locked.subscriptionKey))
              AND \(row).publisher = \(.text(locked.validation.publisher)) AND \(row).environment = \(.text(locked.environment))
              AND \(row).accepted_at > \(.timestamptz(locked.validation.acceptedAt.postgres))
            """
        }
        return """
            SELECT EXISTS (
                    SELECT FROM pursuits q
                    WHERE \(isNewer("q"))
                      AND (q.sending OR q.phase IN \(Pursuit.Phase.taken) OR q.forwards > 0))
                OR EXISTS (SELECT FROM subscriptions s WHERE \(isNewer("s")))
                OR EXISTS (
                    SELECT FROM validations v
                    WHERE \(isNewer("v")) AND v.forwards > 0 AND v.status <> \(ValidationStatus.rejected))
            """
    }

    private static func resume(_ id: ValidationID, fence: Int32) -> SQL {
        """
        INSERT INTO pursuits AS p (
            bucket, id, accepted_on, due_at, accepted_at, deadline, fence, forwards, status, publisher, subscription_key,
            customer, entitled_before, environment, phase, sealed_by)
        SELECT v.bucket, v.id, v.accepted_on, now(), v.accepted_at, v.deadline, \(.int4(fence)), v.forwards, v.status, v.publisher,
               v.subscription_key, v.customer, v.entitled_before, v.environment,
               \(PurchaseDriver.firstPhase("v.driver")), v.sealed_by
        FROM validations v
        WHERE \(id.isKey(of: "v"))
        ON CONFLICT (bucket, id) DO UPDATE SET
            fence = \(.int4(fence)), owner = NULL, due_at = least(p.due_at, now()), retry_at = NULL, read_at = NULL,
            phase = excluded.phase, parked_at = NULL, trouble = NULL, synchronization = NULL, transfers = false,
            found_synchronization = false, refusal = NULL,
            accepted_on = excluded.accepted_on, accepted_at = excluded.accepted_at,
            deadline = excluded.deadline, status = excluded.status, publisher = excluded.publisher,
            subscription_key = excluded.subscription_key, customer = excluded.customer,
            environment = excluded.environment, sealed_by = excluded.sealed_by
        """
    }

    /// Copies the pursuit's values to its validation, for a later retry: they would be lost with the pursuit. A try of a
    /// worker that died counts, as in the next claim.
    private static func keep(_ id: ValidationID) -> SQL {
        """
        UPDATE validations v
        SET forwards = p.forwards + p.sending::int, entitled_before = p.entitled_before
        FROM pursuits p
        WHERE \(id.isKey(of: "v")) AND p.bucket = v.bucket AND p.id = v.id
        """
    }

    private static func abandon(_ id: ValidationID) -> SQL {
        """
        UPDATE validations v
        SET status = \(ValidationStatus.rejected), reason = 'abandoned', settled_at = now(), late = v.deadline <= now()
        WHERE \(id.isKey(of: "v"))
        RETURNING \(Validation.columns)
        """
    }

    /// Deletes a pursuit without a validation. Keeps it if its validation exists outside the scope.
    private static func endOrphan(_ id: ValidationID, in scope: OpsScope) -> SQL {
        """
        DELETE FROM pursuits p
        WHERE p.bucket = \(.int2(Int16(id.bucket.number))) AND p.id = \(.uuid(id.uuid)) AND \(scope.includes("p.publisher"))
          AND NOT EXISTS (SELECT FROM validations v WHERE \(id.isKey(of: "v")))
        RETURNING p.publisher
        """
    }

    private func note(
        _ kind: TimelineEvent.Kind, id: ValidationID, fence: Int32, by: String, reason: String
    ) -> SQL {
        """
        INSERT INTO timeline (bucket, accepted_on, id, fence, ordinal, at, event, instance, detail)
        VALUES (\(.int2(Int16(id.bucket.number))), DATE 'epoch' + \(.int4(Int32(id.day))), \(.uuid(id.uuid)), \(.int4(fence)), 0,
                clock_timestamp(), \(kind), \(.text(memory.instance)), \(.text("by \(by): \(reason.bounded(400))")))
        """
    }
}
