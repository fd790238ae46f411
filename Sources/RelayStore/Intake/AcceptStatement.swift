import Postgres
import RelayCore

/// The one statement, and so the one commit, that takes in a batch of purchases.
///
/// Indexes used: `purchases_pkey` and `idempotency_keys_pkey` for the two conflicts; everything else only inserts.
enum AcceptStatement {
    static let sql = """
        WITH input AS MATERIALIZED (
            SELECT i.*, now() + i.ordinal * interval '1 microsecond' AS accepted_at,
                   now() + i.ordinal * interval '1 microsecond' + $33::int8 * interval '1 microsecond' AS deadline,
                   DATE 'epoch' + i.day AS accepted_on
            FROM unnest($1::int2[], $2::int4[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
                        $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[],
                        $16::text[], $17::text[], $18::bool[], $19::bool[], $20::bytea[], $21::bytea[], $22::int2[],
                        $23::text[], $24::bytea[], $25::bytea[], $26::int2[], $27::text[], $28::text[], $29::text[], $30::int8[],
                        $31::int2[], $32::text[])
                 WITH ORDINALITY
                 AS i(bucket, day, id, publisher, app, email, customer, application_username, offer_id, transaction_id,
                      app_type, ip_address, coupon_code, subscription_key, environment, product_id, bundle_id,
                      receipt_readable, is_text, body, purchase_key, key_bucket, api_key, key, fingerprint, verification,
                      verification_code, verification_detail, period, cleeng_customer, driver, trace, ordinal)
        ), named AS (
            SELECT i.ordinal, k.fingerprint = i.fingerprint AS same, k.validation_bucket, k.accepted_on, k.id
            FROM input i
            JOIN idempotency_keys k ON k.bucket = i.key_bucket AND k.api_key = i.api_key AND k.key = i.key
            WHERE k.expires_at > now()
            -- The lock makes a repeat write, and so wait for the synchronous standby, as the first one did.
            FOR KEY SHARE OF k
        ), claimed AS (
            -- A repeat writes the row as it was: only so can it be returned, and only so does a repeat that runs at the same
            -- moment wait for the first one's commit.
            INSERT INTO purchases AS p (bucket, key, validation_bucket, accepted_on, id, deadline, status)
            SELECT get_byte(i.purchase_key, 0), i.purchase_key, i.bucket, i.accepted_on, i.id, i.deadline, 0
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
                    FROM (SELECT p.status >= 2 OR (p.status = 0 AND p.deadline <= now()) AS over) AS ended)
            RETURNING p.key, p.validation_bucket, p.accepted_on, p.id
        ), fresh AS (
            SELECT i.* FROM input i JOIN claimed c ON c.key = i.purchase_key AND c.id = i.id
        ), new_validations AS (
            INSERT INTO validations (
                bucket, accepted_on, id, accepted_at, deadline, status, receipt_readable, publisher, app, email, customer,
                application_username, offer_id, transaction_id, app_type, ip_address, coupon_code, subscription_key,
                environment, product_id, bundle_id, purchase_key, verification, verification_code, verification_detail,
                period, cleeng_customer, driver, trace, sealed_by)
            SELECT bucket, accepted_on, id, accepted_at, deadline, 0, receipt_readable, publisher, app, email, customer,
                   application_username, offer_id, transaction_id, app_type, ip_address, coupon_code, subscription_key,
                   environment, product_id, bundle_id, purchase_key, verification, verification_code,
                   verification_detail, period, cleeng_customer, driver, trace, $34
            FROM fresh
        ), new_receipts AS (
            INSERT INTO receipts (bucket, accepted_on, id, is_text, body, sealed_by)
            SELECT bucket, accepted_on, id, is_text, body, $35 FROM fresh
        ), new_pursuits AS (
            INSERT INTO pursuits (
                bucket, id, accepted_on, due_at, accepted_at, deadline, publisher, subscription_key, customer,
                environment, phase, sealed_by)
            SELECT bucket, id, accepted_on, accepted_at, accepted_at, deadline, publisher, subscription_key, customer,
                   environment, \(PurchaseDriver.firstPhaseSQL("driver")), $34
            FROM fresh
        ), new_names AS (
            INSERT INTO idempotency_keys AS k (
                bucket, api_key, key, fingerprint, validation_bucket, accepted_on, id, expires_at)
            SELECT i.key_bucket, i.api_key, i.key, i.fingerprint, c.validation_bucket, c.accepted_on, c.id,
                   now() + interval '24 hours'
            FROM input i JOIN claimed c ON c.key = i.purchase_key
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
        SELECT i.ordinal, coalesce(n.same, true), coalesce(n.validation_bucket, c.validation_bucket),
               coalesce(n.accepted_on, c.accepted_on) - DATE 'epoch', coalesce(n.id, c.id), i.accepted_at, i.deadline
        FROM input i
        LEFT JOIN named n ON n.ordinal = i.ordinal
        LEFT JOIN claimed c ON c.key = i.purchase_key
        ORDER BY i.ordinal
        """

    static func query(_ batch: [Acceptance], timeout: Duration) -> PostgresQuery {
        func column<T>(_ value: (Acceptance) -> T) -> [T] { batch.map(value) }
        let purchase: [PostgresValue] = [
            .int2Array(column { Int16($0.id.bucket.number) }), .int4Array(column { Int32($0.id.day) }),
            .uuidArray(column { $0.id.uuid }), .textArray(column { $0.publisher }), .textArray(column { $0.app }),
            .privateTextArray(column { $0.email.sent }), .privateTextArray(column { $0.email.customer }),
            .privateTextArray(column { $0.applicationUsername }), .textArray(column { $0.offerID }),
            .textArray(column { $0.transactionID }), .textArray(column { $0.appType }),
            .privateTextArray(column { $0.ipAddress }), .textArray(column { $0.couponCode }),
            .textArray(column { $0.subscriptionKey }), .textArray(column { $0.environment }),
            .textArray(column { $0.productID }), .textArray(column { $0.bundleID }),
            .boolArray(column { $0.isReceiptReadable }), .boolArray(column { $0.receipt.isText }),
            .privateByteaArray(column { $0.receipt.bytes }),
        ]
        let rest: [PostgresValue] = [
            .byteaArray(column { $0.purchaseKey }),
            .int2Array(column { $0.idempotencyKey.map { Int16($0.bucket.number) } }),
            .textArray(column { $0.idempotencyKey?.apiKey }), .byteaArray(column { $0.idempotencyKey?.digest }),
            .byteaArray(column { $0.idempotencyKey?.fingerprint }),
            .int2Array(column { $0.verification.result.rawValue }), .textArray(column { $0.verification.code }),
            .textArray(column { $0.verification.detail }),
            .textArray(column { $0.period?.json }),
            .int8Array(column { $0.cleengCustomer }), .int2Array(column { $0.driver.rawValue }),
            .textArray(column { $0.trace }),
            .int8(timeout.microseconds), .keyOfTexts, .keyOfBytes,
        ]
        return PostgresQuery(sql, purchase + rest)
    }

    static func outcomes(of rows: PostgresRows, for batch: [Acceptance]) throws -> [AcceptOutcome] {
        try zip(rows, batch).map { row, acceptance in
            guard try row.get(1, as: Bool.self) else { return .idempotencyKeyReused }
            let id = try row.validationID(bucket: 2, day: 3, id: 4)
            guard id == acceptance.id else { return .existing(id) }
            return .created(acceptedAt: try row.timestamp(5), deadline: try row.timestamp(6))
        }
    }
}
