import Postgres
public import RelayCore
import Traces

extension OpsStore {
    private static func detail(_ id: ValidationID, in scope: OpsScope) -> SQL {
        """
        SELECT \(Validation.columns), clock_timestamp() AS now, v.app_type, v.coupon_code, v.transaction_id, v.subscription_key,
               v.environment, v.product_id, v.bundle_id, ROW(v.sealed_by, v.application_username) AS application_username,
               v.receipt_readable, coalesce(v.entitled_before, p.entitled_before) AS entitled_before,
               coalesce(p.forwards, v.forwards) AS forwards, v.evidence, p.due_at, p.owner, \(parkedSince) AS parked_since,
               \(parkedReason) AS parked_reason, v.verification, v.verification_code, v.verification_detail, v.driver,
               v.cleeng_customer, v.trace
        FROM validations v
        LEFT JOIN pursuits p ON p.bucket = v.bucket AND p.id = v.id
        WHERE \(id.isKey(of: "v")) AND \(scope.includes("v.publisher"))
        """
    }

    private static func timeline(_ id: ValidationID) -> SQL {
        """
        SELECT t.at, t.event, t.upstream_status, t.latency_ms, t.instance, t.detail
        FROM timeline t
        WHERE \(id.isKey(of: "t"))
        ORDER BY t.fence, t.ordinal
        LIMIT 1000
        """
    }

    private static func transfer(_ id: ValidationID, of publisher: PublisherID, _ key: TransactionID) -> SQL {
        """
        SELECT ROW(t.sealed_by, t.from_customer) AS from_customer, ROW(t.sealed_by, t.to_customer) AS to_customer, t.bucket,
               t.from_accepted_on - DATE 'epoch' AS from_day, t.from_id, t.to_accepted_on - DATE 'epoch' AS to_day, t.to_id, t.at,
               coalesce(t.from_bucket, t.bucket) AS from_bucket
        FROM transfers t
        WHERE t.bucket = \(.int2(Int16(id.bucket.number))) AND t.publisher = \(.text(publisher)) AND t.subscription_key = \(.text(key))
          AND (t.to_id = \(.uuid(id.uuid)) OR t.from_id = \(.uuid(id.uuid)))
        ORDER BY t.at DESC
        LIMIT 1
        """
    }

    /// A validation with its timeline. Nil if the id is unknown or outside the scope.
    public func detail(_ id: ValidationID, in scope: OpsScope) async throws -> ValidationDetail? {
        guard let row = try await database.query(Self.detail(id, in: scope)).first else { return nil }
        let validation = try PurchaseStore.validation(row)
        let stored = try PurchaseStore.stored(row)
        let key = try row.get("subscription_key", as: TransactionID.self)
        async let events = database.query(Self.timeline(id))
        async let transfers = database.query(Self.transfer(id, of: validation.publisher, key))
        var timeline = [
            ValidationDetail.Entry(event: TimelineEvent(at: validation.acceptedAt, kind: .accepted), instance: "")
        ]
        timeline += try await events.map(Self.entry)
        if validation.status != stored.status {
            // The deadline has passed, but no worker has written the timeout yet.
            timeline.append(
                .init(
                    event: TimelineEvent(at: validation.deadline, kind: .timedOut, detail: "judged when read"),
                    instance: ""))
        }
        return ValidationDetail(
            validation: validation, appType: try row.get("app_type"), couponCode: try row.get("coupon_code"),
            transactionID: try row.get("transaction_id"), originalTransactionID: key,
            environment: try row.get("environment"), productID: try row.get("product_id"),
            bundleID: try row.get("bundle_id"), applicationUsername: try row.open("application_username"),
            isReceiptReadable: try row.get("receipt_readable"), verification: try Self.verification(row),
            driver: try row.constant("driver"), cleengCustomer: try row.get("cleeng_customer"),
            entitledBefore: try row.get("entitled_before"), attempts: try row.get("forwards"),
            evidence: try row.get("evidence"), nextStepAt: try row.timestampIfSet("due_at"),
            leaseOwner: try row.get("owner"), parking: try Self.parking(row),
            transfer: try await transfers.first.map(Self.transfer), traceID: StoredTrace.id(try row.get("trace")),
            timeline: timeline)
    }

    private static func verification(_ row: PostgresRow) throws -> Verification {
        let number = try row.get("verification", as: Int16.self)
        guard
            let verification = Verification(
                result: number, code: try row.get("verification_code"), detail: try row.get("verification_detail"))
        else { throw StoreError.unknownNumber(column: "verification", number: Int(number)) }
        return verification
    }

    private static func entry(_ row: PostgresRow) throws -> ValidationDetail.Entry {
        ValidationDetail.Entry(
            event: TimelineEvent(
                at: try row.timestamp("at"), kind: try row.constant("event"),
                upstreamStatus: try row.get("upstream_status", as: Int16?.self).map { Int($0) },
                latency: try row.get("latency_ms", as: Int32?.self).map { .milliseconds(Int($0)) },
                detail: try row.get("detail")),
            instance: try row.get("instance"))
    }

    private static func transfer(_ row: PostgresRow) throws -> ValidationDetail.Transfer {
        ValidationDetail.Transfer(
            from: try row.open("from_customer"), to: try row.open("to_customer"),
            fromValidation: try row.validationID(bucket: "from_bucket", day: "from_day", id: "from_id"),
            toValidation: try row.validationID(day: "to_day", id: "to_id"), at: try row.timestamp("at"))
    }
}
