import Postgres
import RelayCore

extension LedgerHearing {
    /// What was granted on it ends, whoever was granted it; the owner's goes on, or runs longer. The purchase's row follows
    /// its validation, unless a fresh one speaks for the purchase by now.
    func access(_ heard: [Heard]) -> SQL {
        struct Row {
            var name: SubscriptionName
            var customer: CustomerID
            var ends: Bool
            var reason: String?
            var expiresAt: Timestamp?
            var detail: String
            var offer: OfferID
        }
        // One that has just moved here has the owner that it had there.
        let owners = Dictionary(
            heard.compactMap { heard in heard.owner.map { (heard.message.name, $0) } },
            uniquingKeysWith: { one, _ in one })
        let rows = heard.flatMap { heard -> [Row] in
            let names = [heard.message.name] + heard.ledger.movedFrom.sorted().map(heard.message.name.under)
            guard let owner = names.lazy.compactMap({ owners[$0] }).first else { return [] }
            let event = heard.message.note?.event
            return heard.access.verdicts.sorted { $0.key < $1.key }.flatMap { offer, verdict in
                names.map { name in
                    switch verdict {
                    case .goesOn(let expiresAt):
                        // A receipt may be older than the renewal that Cleeng grants on.
                        Row(
                            name: name, customer: owner.customer, ends: false,
                            expiresAt: expiresAt.flatMap { $0 > heard.now ? $0 : nil },
                            detail: event ?? "as the store has it", offer: offer)
                    case .ends(let reason):
                        Row(
                            name: name, customer: owner.customer, ends: true, reason: reason,
                            detail: "\(reason): \(event ?? "its time is over")", offer: offer)
                    }
                }
            }
        }
        let decisions: SQLTable = [
            "customer": .privateTextArray(rows.map(\.customer)), "ends": .boolArray(rows.map(\.ends)),
            "reason": .textArray(rows.map(\.reason)),
            "expires_at": .timestamptzArray(rows.map { $0.expiresAt?.postgres }),
            "detail": .textArray(rows.map(\.detail)), "offer_id": .textArray(rows.map(\.offer)),
        ]
        return change(SQLTable.subscriptions(rows.map(\.name)) + decisions)
    }

    /// Index used: `validations_subscription`.
    private func change(_ decisions: SQLTable) -> SQL {
        let (granted, revoked) = (ValidationStatus.granted, ValidationStatus.revoked)
        typealias Kind = TimelineEvent.Kind
        let event: SQL = """
            CASE WHEN e.ends THEN \(Kind.revoked) WHEN e.was = \(revoked) THEN \(Kind.granted) ELSE \(Kind.renewed) END
            """
        return """
            WITH held AS MATERIALIZED (
                SELECT v.bucket, v.accepted_on, v.id, v.status AS was, i.ends, i.reason, i.expires_at, i.detail
                FROM \(decisions, as: "i")
                JOIN validations v ON v.bucket = i.bucket AND v.subscription_key = i.subscription_key
                     AND v.publisher = i.publisher AND v.environment = i.environment AND v.offer_id = i.offer_id
                     AND (i.ends OR v.customer = i.customer)
                WHERE CASE WHEN i.ends
                           THEN v.status = \(granted) OR (v.status = \(revoked) AND v.reason IS DISTINCT FROM i.reason)
                           ELSE v.status = \(revoked)
                                OR (v.status = \(granted) AND i.expires_at <> coalesce(v.expires_at, 'epoch')) END
                ORDER BY v.bucket, v.accepted_on, v.id
                FOR NO KEY UPDATE OF v
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
            ), told AS (
                \(TimelineStatement.insert(unheld: "changed", event: event, detail: "e.detail", instance: instance))
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
