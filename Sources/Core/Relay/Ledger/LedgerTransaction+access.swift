import Postgres
import RelayCore

extension AppliedLedgers {
    /// Changes granted access: ends it for every customer, or continues or extends it for the owner. The purchase's row
    /// is updated with its validation, unless a newer validation is current by now.
    func access(_ changes: [AccessChange]) -> SQL {
        typealias Columns = (ends: Bool, reason: String?, expiresAt: Timestamp?)
        let verdicts = changes.map { change -> Columns in
            switch change.verdict {
            case .goesOn(let expiresAt): (false, nil, expiresAt)
            case .ends(let reason): (true, reason, nil)
            }
        }
        let decisions: SQLTable = [
            "customer": .privateTextArray(changes.map(\.owner)), "ends": .boolArray(verdicts.map(\.ends)),
            "reason": .textArray(verdicts.map(\.reason)),
            "expires_at": .timestamptzArray(verdicts.map { $0.expiresAt?.postgres }),
            "detail": .textArray(changes.map(\.detail)), "offer_id": .textArray(changes.map(\.offer)),
        ]
        return change(SQLTable.subscriptions(changes.map(\.name)) + decisions)
    }

    /// Updates validations. Indexes used: `validations_subscription` to find them, the primary key to lock them in the
    /// order of their keys.
    private func change(_ decisions: SQLTable) -> SQL {
        let (granted, revoked) = (ValidationStatus.granted, ValidationStatus.revoked)
        typealias Kind = TimelineEvent.Kind
        let event: SQL = """
            CASE WHEN e.ends THEN \(Kind.revoked) WHEN e.was = \(revoked) THEN \(Kind.granted) ELSE \(Kind.renewed) END
            """
        let isConcerned: SQL = """
            v.offer_id = i.offer_id AND (i.ends OR v.customer = i.customer)
            AND CASE WHEN i.ends THEN v.status = \(granted) OR (v.status = \(revoked) AND v.reason IS DISTINCT FROM i.reason)
                     ELSE v.status = \(revoked)
                          OR (v.status = \(granted) AND i.expires_at <> coalesce(v.expires_at, 'epoch')) END
            """
        return """
            WITH found AS MATERIALIZED (
                SELECT i.offer_id, i.customer, i.ends, i.reason, i.expires_at, i.detail, v.bucket, v.accepted_on, v.id
                FROM \(decisions, as: "i")
                CROSS JOIN LATERAL (
                    SELECT v.bucket, v.accepted_on, v.id
                    FROM validations v
                    WHERE v.bucket = i.bucket AND v.subscription_key = i.subscription_key AND v.publisher = i.publisher
                      AND v.environment = i.environment AND \(isConcerned)
                    OFFSET 0) AS v
                ORDER BY v.bucket, v.accepted_on, v.id
            ), held AS MATERIALIZED (
                SELECT v.bucket, v.accepted_on, v.id, v.status AS was, i.ends, i.reason, i.expires_at, i.detail
                FROM (SELECT * FROM found OFFSET 0) AS i
                CROSS JOIN LATERAL (
                    SELECT * FROM validations v
                    WHERE v.bucket = i.bucket AND v.accepted_on = i.accepted_on AND v.id = i.id
                    OFFSET 0 FOR NO KEY UPDATE) AS v
                -- Another transaction may have changed it meanwhile.
                WHERE \(isConcerned)
            ), changed AS (
                UPDATE validations v
                SET status = CASE WHEN h.ends THEN \(revoked) ELSE \(granted) END, reason = CASE WHEN h.ends THEN h.reason END,
                    settled_at = CASE WHEN h.ends = (h.was = \(granted)) THEN now() ELSE v.settled_at END,
                    expires_at = CASE WHEN h.ends THEN v.expires_at ELSE coalesce(h.expires_at, v.expires_at) END,
                    owner_no = CASE WHEN NOT h.ends THEN coalesce(v.owner_no, (
                        SELECT s.owner_no FROM subscriptions s
                        WHERE \(.sameSubscription("s", "v")))) END
                FROM held h
                WHERE v.bucket = h.bucket AND v.accepted_on = h.accepted_on AND v.id = h.id
                RETURNING v.*, h.was, h.ends, h.detail
            ), noted AS (
                \(TimelineStatement.insert(unheld: "changed", event: event, detail: "e.detail", instance: memory.instance))
            ), followed AS (
                UPDATE purchases p
                SET status = c.status
                FROM changed c
                WHERE p.bucket = get_byte(c.purchase_key, 0) AND p.key = c.purchase_key AND p.id = c.id
                  AND p.status <> c.status
            )
            SELECT \(Validation.columns) FROM changed v
            """
    }
}
