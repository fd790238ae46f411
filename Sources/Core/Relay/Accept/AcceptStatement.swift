import Postgres
import RelayCore

/// The single statement, and commit, that accepts a batch of purchases.
///
/// Indexes used: `purchases_pkey` and `idempotency_keys_pkey` for the two conflicts; for purchases claimed at once also
/// `pursuits_subscription` and the primary key of `subscriptions`. Everything else only inserts.
enum AcceptStatement {
    /// The copy that claims purchases in the statement that accepts them.
    struct Claimant {
        var instance: String
        var lease: Duration
        /// Publishers whose own accounts this copy has.
        var own: [PublisherID]
    }

    /// How long a statement with repeats may have taken when it claims. It reads what else is accepted as of its start. If
    /// it waited for a row since, another copy may have accepted and sent a newer request. A regular claim sees that.
    private static let promptness = Duration.milliseconds(25)

    /// - Parameters:
    ///   - wantsClaim: for each purchase, whether to claim it at once if possible.
    ///   - claimant: the claiming copy; nil: nothing is claimed.
    static func query(
        _ batch: [Acceptance], timeout: Duration, wantsClaim: [Bool] = [], by claimant: Claimant? = nil
    ) -> SQL {
        let claimColumn: SQLTable = claimant == nil ? [:] : ["wants_claim": .boolArray(wantsClaim)]
        let claims: SQL =
            claimant.map {
                """
                CASE WHEN i.wants_claim AND (SELECT is_prompt FROM lasted) THEN \(canClaim("i", own: $0.own))
                     ELSE false END
                """
            } ?? "false"
        let (isClaimed, join): (SQL, SQL) =
            claimant == nil
            ? ("false", "") : ("coalesce(f.is_claimed, false)", "LEFT JOIN fresh f ON f.ordinal = i.ordinal")
        return """
            WITH input AS MATERIALIZED (
                SELECT i.*, now() + i.ordinal * interval '1 microsecond' AS accepted_at,
                       now() + i.ordinal * interval '1 microsecond' + \(timeout) AS deadline,
                       DATE 'epoch' + i.day AS accepted_on
                FROM \(input(batch) + claimColumn, as: "i", ordinal: "ordinal")
            ), named AS (
                SELECT i.ordinal, k.fingerprint = i.fingerprint AS same, k.validation_bucket, k.accepted_on, k.id
                FROM input i
                JOIN idempotency_keys k ON k.bucket = i.key_bucket AND k.api_key = i.api_key AND k.key = i.key
                WHERE k.expires_at > now()
                -- The lock makes a repeat write, and so wait for the synchronous standby, as the first one did.
                FOR KEY SHARE OF k
            ), upserted AS (
                -- Rewrites a repeat's row unchanged, so that RETURNING gives it and a concurrent repeat waits for the
                -- first commit.
                INSERT INTO purchases AS p (bucket, key, validation_bucket, accepted_on, id, deadline, status)
                SELECT get_byte(i.purchase_key, 0), i.purchase_key, i.bucket, i.accepted_on, i.id, i.deadline,
                       \(ValidationStatus.pending)
                FROM input i
                WHERE NOT EXISTS (SELECT FROM named n WHERE n.ordinal = i.ordinal)
                ORDER BY i.purchase_key
                ON CONFLICT (bucket, key) DO UPDATE SET
                    (validation_bucket, accepted_on, id, deadline, status) = (
                        SELECT CASE WHEN over THEN excluded.validation_bucket ELSE p.validation_bucket END,
                               CASE WHEN over THEN excluded.accepted_on ELSE p.accepted_on END,
                               CASE WHEN over THEN excluded.id ELSE p.id END,
                               CASE WHEN over THEN excluded.deadline ELSE p.deadline END,
                               CASE WHEN over THEN excluded.status ELSE p.status END
                        FROM (SELECT p.status >= \(ValidationStatus.rejected)
                                  OR (p.status = \(ValidationStatus.pending) AND p.deadline <= now()) AS over) AS ended)
                RETURNING p.key, p.validation_bucket, p.accepted_on, p.id, p.xmax = 0 AS is_inserted
            ), lasted AS MATERIALIZED (
                -- All rows are written before this is known. Only rows that exist already are waited for.
                SELECT (coalesce(bool_and(u.is_inserted), true) AND NOT EXISTS (SELECT FROM named))
                       OR clock_timestamp() - now() < \(promptness) AS is_prompt
                FROM upserted u
            ), fresh AS MATERIALIZED (
                SELECT i.*, \(claims) AS is_claimed
                FROM input i
                JOIN upserted u ON u.key = i.purchase_key AND u.id = i.id
            ), new_validations AS (
                INSERT INTO validations (
                    bucket, accepted_on, id, accepted_at, deadline, status, receipt_readable, publisher, app, email, customer,
                    application_username, offer_id, transaction_id, app_type, ip_address, coupon_code, subscription_key,
                    environment, product_id, bundle_id, purchase_key, verification, verification_code, verification_detail,
                    period, cleeng_customer, driver, trace, keeps_owner, takes, sealed_by)
                SELECT bucket, accepted_on, id, accepted_at, deadline, \(ValidationStatus.pending), receipt_readable, publisher,
                       app, email, customer, application_username, offer_id, transaction_id, app_type, ip_address, coupon_code,
                       subscription_key, environment, product_id, bundle_id, purchase_key, verification, verification_code,
                       verification_detail, period, cleeng_customer, driver, trace, keeps_owner, takes, \(.keyOfTexts)
                FROM fresh
            ), new_receipts AS (
                INSERT INTO receipts (bucket, accepted_on, id, is_text, body, sealed_by)
                SELECT bucket, accepted_on, id, is_text, body, \(.keyOfBytes) FROM fresh
            ), new_pursuits AS (
                INSERT INTO pursuits (
                    bucket, id, accepted_on, due_at, accepted_at, deadline, publisher, subscription_key, customer,
                    environment, phase, owner, fence, sending, sealed_by)
                SELECT bucket, id, accepted_on,
                       CASE WHEN is_claimed THEN now() + \(claimant?.lease ?? .zero) ELSE accepted_at END, accepted_at,
                       deadline, publisher, subscription_key, customer, environment,
                       \(PurchaseDriver.firstPhase("driver")),
                       CASE WHEN is_claimed THEN \(.text(claimant?.instance)) END, is_claimed::int AS fence,
                       is_claimed AS sending, \(.keyOfTexts)
                FROM fresh
            ), new_names AS (
                INSERT INTO idempotency_keys AS k (
                    bucket, api_key, key, fingerprint, validation_bucket, accepted_on, id, expires_at)
                SELECT i.key_bucket, i.api_key, i.key, i.fingerprint, u.validation_bucket, u.accepted_on, u.id,
                       now() + interval '24 hours'
                FROM input i JOIN upserted u ON u.key = i.purchase_key
                WHERE i.key IS NOT NULL
                ORDER BY i.key_bucket, i.api_key, i.key
                ON CONFLICT (bucket, api_key, key) DO UPDATE SET
                    (fingerprint, validation_bucket, accepted_on, id, expires_at) = (
                        SELECT excluded.fingerprint,
                               CASE WHEN over THEN excluded.validation_bucket ELSE k.validation_bucket END,
                               CASE WHEN over THEN excluded.accepted_on ELSE k.accepted_on END,
                               CASE WHEN over THEN excluded.id WHEN k.fingerprint = excluded.fingerprint THEN k.id END,
                               CASE WHEN over THEN excluded.expires_at ELSE k.expires_at END
                        FROM (SELECT k.expires_at <= now() AS over) AS expired)
            )
            SELECT coalesce(n.same, true) AS same, coalesce(n.validation_bucket, u.validation_bucket) AS bucket,
                   coalesce(n.accepted_on, u.accepted_on) - DATE 'epoch' AS day, coalesce(n.id, u.id) AS id,
                   i.accepted_at, i.deadline, \(isClaimed) AS is_claimed
            FROM input i
            LEFT JOIN named n ON n.ordinal = i.ordinal
            LEFT JOIN upserted u ON u.key = i.purchase_key
            \(join)
            ORDER BY i.ordinal
            """
    }

    /// Condition that row `i` may be sent first for its subscription: the subscription has no pursuit and no owner
    /// accepted later, and this copy has the publisher's account. If two copies find this true at once, the index
    /// `pursuits_one_sender` refuses the second.
    ///
    /// Scalar subqueries, because the planner never turns them into joins. A join planned while the tables were empty
    /// would scan them.
    private static func canClaim(_ row: SQL, own: [PublisherID]) -> SQL {
        """
        \(PublisherScope.hasAccount(own, "\(row).publisher"))
                        AND (SELECT true FROM pursuits q
                             WHERE q.bucket = \(row).bucket AND q.subscription_key = \(row).subscription_key
                               AND q.environment = \(row).environment AND q.publisher IS NOT DISTINCT FROM \(row).publisher
                             LIMIT 1) IS NULL
                        AND (SELECT true FROM subscriptions s
                             WHERE s.bucket = \(row).bucket AND s.publisher = \(row).publisher
                               AND s.environment = \(row).environment AND s.subscription_key = \(row).subscription_key
                               AND s.accepted_at > \(row).accepted_at) IS NULL
        """
    }

    private static func input(_ batch: [Acceptance]) -> SQLTable {
        let customers: SQLTable = [
            "publisher": .textArray(batch.map(\.publisher)), "app": .textArray(batch.map(\.app)),
            "email": .privateTextArray(batch.map(\.email.sent)),
            "customer": .privateTextArray(batch.map(\.email.customer)),
            "application_username": .privateTextArray(batch.map(\.applicationUsername)),
            "ip_address": .privateTextArray(batch.map(\.ipAddress)),
            "cleeng_customer": .int8Array(batch.map(\.cleengCustomer)), "trace": .textArray(batch.map(\.trace)),
        ]
        let purchases: SQLTable = [
            "offer_id": .textArray(batch.map(\.offerID)), "transaction_id": .textArray(batch.map(\.transactionID)),
            "app_type": .textArray(batch.map(\.appType)), "coupon_code": .textArray(batch.map(\.couponCode)),
            "subscription_key": .textArray(batch.map(\.subscriptionKey)),
            "environment": .textArray(batch.map(\.environment)), "product_id": .textArray(batch.map(\.productID)),
            "bundle_id": .textArray(batch.map(\.bundleID)), "driver": .int2Array(batch.map(\.driver.rawValue)),
            "keeps_owner": .boolArray(batch.map(\.keepsOwner)),
            "takes": .textArray(batch.map { $0.keepsOwner ? TakenNames.text($0.takes) : nil }),
        ]
        let receipts: SQLTable = [
            "receipt_readable": .boolArray(batch.map(\.isReceiptReadable)),
            "is_text": .boolArray(batch.map(\.receipt.isText)), "body": .privateByteaArray(batch.map(\.receipt.bytes)),
            "verification": .int2Array(batch.map(\.verification.result.rawValue)),
            "verification_code": .textArray(batch.map(\.verification.code)),
            "verification_detail": .textArray(batch.map(\.verification.detail)),
            "period": .textArray(batch.map(\.periods.json)),
        ]
        let keys: SQLTable = [
            "purchase_key": .byteaArray(batch.map(\.purchaseKey)),
            "key_bucket": .int2Array(batch.map { $0.idempotencyKey.map { Int16($0.bucket.number) } }),
            "api_key": .textArray(batch.map { $0.idempotencyKey?.apiKey }),
            "key": .byteaArray(batch.map { $0.idempotencyKey?.digest }),
            "fingerprint": .byteaArray(batch.map { $0.idempotencyKey?.fingerprint }),
        ]
        return SQLTable.ids(batch.map(\.id)) + customers + purchases + receipts + keys
    }

    /// - Returns: the outcome of each purchase, and whether it was claimed.
    static func outcomes(
        of rows: PostgresRows, for batch: [Acceptance]
    ) throws -> [(outcome: AcceptOutcome, isClaimed: Bool)] {
        try zip(rows, batch).map { row, acceptance in
            guard try row.get("same", as: Bool.self) else { return (.idempotencyKeyReused, false) }
            let id = try row.validationID()
            guard id == acceptance.id else { return (.existing(id), false) }
            return (
                .created(acceptedAt: try row.timestamp("accepted_at"), deadline: try row.timestamp("deadline")),
                try row.get("is_claimed")
            )
        }
    }
}

extension PurchaseDriver {
    /// First phase of a purchase's pursuit as SQL, like ``firstPhase``, for a column with the driver's raw value.
    static func firstPhase(_ column: SQL) -> SQL {
        let connected = Connector.allCases.map { connector -> SQL in
            "WHEN \(connector.driver) THEN \(connector.driver.firstPhase)"
        }
        return "CASE \(column) \(connected.joined(" ")) ELSE \(receipt.firstPhase) END"
    }
}
