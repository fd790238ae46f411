import Foundation
import Postgres
import RelayCore

/// Statements of a settlement about validations and pursuits.
extension Settlement {
    /// Reads which claims are valid, and whether each validation has the status that its pursuit names. A locked
    /// pursuit prevents other changes of the validation. Also reads the data of a grant.
    func hold(_ writes: [PursuitWrite]) -> SQL {
        let named: SQLTable = [
            "day": .int4Array(writes.map { Int32($0.claimed.id.day) }),
            "status": .int2Array(writes.map(\.claimed.pursuit.status.rawValue)),
        ]
        return """
            WITH ours AS MATERIALIZED (\(PurchaseStore.ours(writes.map(\.claim))))
            SELECT o.ordinal, coalesce(v.status = i.status, false) AS is_as_named,
                   ROW(v.sealed_by, v.application_username) AS username, v.bundle_id, v.product_id, v.period, clock_timestamp() AS now
            FROM ours o
            JOIN \(named, as: "i", ordinal: "ordinal") ON i.ordinal = o.ordinal
            LEFT JOIN LATERAL (
                SELECT v.status, v.sealed_by, v.application_username, v.bundle_id, v.product_id, v.period
                FROM validations v
                WHERE v.bucket = o.bucket AND v.accepted_on = DATE 'epoch' + i.day AND v.id = o.id
                OFFSET 0) AS v ON true
            """
    }

    /// A decision from before the deadline that is written after it is late, since apps have already read the timeout.
    func change(
        _ changes: [(write: PursuitWrite, change: Decision.Change)], _ granted: [ValidationID: Granted]
    ) -> SQL {
        let owners = changes.map { granted[$0.write.claimed.id] }
        let alone = owners.map { $0?.name.standsAlone == true ? $0?.name.originalTransactionID : nil }
        let states: SQLTable = [
            "from_status": .int2Array(changes.map(\.write.claimed.pursuit.status.rawValue)),
            "status": .int2Array(changes.map(\.change.status.rawValue)),
            "reason": .textArray(changes.map { $0.change.reason?.bounded(300) }),
            "late": .boolArray(changes.map(\.change.late)),
            "settled_at": .timestamptzArray(changes.map(\.change.at.postgres)),
            "expires_at": .timestamptzArray(
                zip(changes, owners).map { ($1?.expiresAt ?? $0.change.expiresAt)?.postgres }),
            "evidence": .textArray(changes.map(\.change.evidence)),
        ]
        let rest: SQLTable = [
            "forwards": .int4Array(changes.map { Int32(clamping: $0.write.pursuit.forwards) }),
            "entitled_before": .boolArray(changes.map(\.write.pursuit.entitledBefore)),
            "owner_no": .int4Array(owners.map { $0?.ownerNo }), "alone": .textArray(alone),
        ]
        let isDecision: SQL = "i.status IN \([ValidationStatus.granted, .rejected, .revoked])"
        return """
            UPDATE validations v
            SET status = i.status, reason = i.reason,
                late = i.late OR (\(isDecision) AND v.deadline <= clock_timestamp()),
                settled_at = CASE WHEN \(isDecision) AND i.settled_at < v.deadline AND v.deadline <= clock_timestamp()
                                  THEN clock_timestamp() ELSE i.settled_at END,
                expires_at = i.expires_at,
                evidence = coalesce(i.evidence, v.evidence), forwards = i.forwards, entitled_before = i.entitled_before,
                owner_no = i.owner_no, subscription_key = coalesce(i.alone, v.subscription_key),
                period = CASE WHEN i.alone IS NULL THEN v.period END
            FROM \(SQLTable.ids(changes.map(\.write.claimed.id)) + states + rest, as: "i")
            WHERE \(.sameID("v", "i")) AND v.status = i.from_status
            RETURNING \(Validation.columns)
            """
    }

    /// Updates a purchase's row to its validation's status, unless a newer validation has replaced that one. Rows are
    /// locked in the order of the intake of repeats. `OFFSET 0` leaves the planner only the primary keys.
    static func purchases(of ids: [ValidationID], become statuses: [ValidationStatus]) -> SQL {
        let status: SQLTable = ["status": .int2Array(statuses.map(\.rawValue))]
        return """
            WITH held AS MATERIALIZED (
                SELECT p.bucket, p.key, i.status
                FROM (SELECT i.id, i.status, v.purchase_key
                      FROM \(SQLTable.ids(ids) + status, as: "i")
                      CROSS JOIN LATERAL (
                          SELECT v.purchase_key
                          FROM validations v
                          WHERE \(.sameID("v", "i"))
                          OFFSET 0) AS v
                      ORDER BY v.purchase_key) AS i
                CROSS JOIN LATERAL (
                    SELECT p.bucket, p.key, p.id
                    FROM purchases p
                    WHERE p.bucket = get_byte(i.purchase_key, 0) AND p.key = i.purchase_key
                    OFFSET 0 FOR NO KEY UPDATE) AS p
                WHERE p.id = i.id
            )
            UPDATE purchases p
            SET status = held.status
            FROM held
            WHERE p.bucket = held.bucket AND p.key = held.key
            """
    }

    func finish(_ writes: [PursuitWrite]) -> SQL {
        let keys: SQLTable = [
            "bucket": .int2Array(writes.map { Int16($0.claimed.id.bucket.number) }),
            "id": .uuidArray(writes.map(\.claimed.id.uuid)),
        ]
        return "DELETE FROM pursuits p USING \(keys, as: "i") WHERE p.bucket = i.bucket AND p.id = i.id"
    }

    /// Copies a finished pursuit's values to its validation if no change does. They would be lost with the pursuit.
    func keep(_ writes: [PursuitWrite]) -> SQL {
        let states: SQLTable = [
            "forwards": .int4Array(writes.map { Int32(clamping: $0.pursuit.forwards) }),
            "entitled_before": .boolArray(writes.map(\.pursuit.entitledBefore)),
        ]
        return """
            UPDATE validations v
            SET forwards = i.forwards, entitled_before = i.entitled_before
            FROM \(SQLTable.ids(writes.map(\.claimed.id)) + states, as: "i")
            WHERE \(.sameID("v", "i"))
            """
    }

    func rest(_ writes: [PursuitWrite]) -> SQL {
        let status: SQLTable = ["status": .int2Array(writes.map(\.pursuit.status.rawValue))]
        return """
            UPDATE pursuits p
            SET \(PurchaseStore.resting), status = i.status
            FROM \(SQLTable.resting(writes) + status, as: "i")
            WHERE p.bucket = i.bucket AND p.id = i.id AND p.fence = i.fence
            """
    }

    /// Changes the validation's driver: a version without the connector would send the purchase as an Apple receipt.
    func fallBack(_ writes: [PursuitWrite]) -> SQL {
        let drivers: SQLTable = [
            "driver": .int2Array(writes.map { $0.claimed.pursuit.phase.connector?.driver.platform.driver.rawValue })
        ]
        return """
            UPDATE validations v
            SET driver = i.driver
            FROM \(SQLTable.ids(writes.map(\.claimed.id)) + drivers, as: "i")
            WHERE \(.sameID("v", "i"))
            """
    }
}
