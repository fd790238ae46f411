import Postgres
public import RelayCore

/// Whether a customer's entitlement may be read now.
public struct ReadTurn: Sendable {
    /// Time of the next allowed read; nil: now.
    public var nextAt: Timestamp?
    /// Whether purchases that no worker has claimed wait for this customer's entitlement.
    public var hasSiblings: Bool
}

extension PurchaseStore {
    /// How long a turn is kept for a caller that waits for it.
    private static let keptFor = Duration.seconds(2)

    /// Takes each customer's turn to be read: at most once per `interval`, over all copies.
    ///
    /// Apps read some customers again and again, as soon as they may. So the next turn is kept, for a moment, for a
    /// caller that was refused and `waits`.
    ///
    /// - Parameters:
    ///   - customers: must not contain duplicates.
    ///   - waits: whether the answer is due, and the caller comes again at the time that it gets.
    public func takeReads(
        of customers: [CustomerKey], interval: Duration, waits: Bool = false
    ) async throws -> [CustomerKey: ReadTurn] {
        let sent = ContinuousClock.now
        let rows = try await database.query(Self.take(customers, interval, waits: waits))
        var answers: [CustomerKey: ReadTurn] = [:]
        for row in rows {
            let key = CustomerKey(publisher: try row.get("publisher"), customer: try row.open("customer"))
            answers[key] = ReadTurn(
                nextAt: try row.get("is_taken", as: Bool.self) ? nil : try row.timestamp("free_at"),
                hasSiblings: try row.get("has_siblings"))
            memory.clock.observe(try row.timestamp("now"), sent: sent)
        }
        return answers
    }

    /// Updates one row per customer, which has the time of the last read. The copy whose update succeeds may read. Any
    /// other copy gets the next allowed time: an interval after the last read, or after now if that read is not visible
    /// yet.
    private static func take(_ customers: [CustomerKey], _ interval: Duration, waits: Bool) -> SQL {
        let keys: SQLTable = [
            "bucket": .int2Array(customers.map { Int16(Bucket(of: $0.publisher, $0.customer).number) }),
            "publisher": .textArray(customers.map(\.publisher)),
            "customer": .privateTextArray(customers.map(\.customer)),
        ]
        return """
            WITH input AS (
                SELECT i.* FROM \(keys, as: "i")
                ORDER BY i.bucket, i.publisher, i.customer
            ), taken AS (
                INSERT INTO entitlement_reads AS r (bucket, publisher, customer, read_at, sealed_by)
                SELECT bucket, publisher, customer, now(), \(.keyOfTexts) FROM input
                ON CONFLICT (bucket, publisher, customer) DO UPDATE SET read_at = now(), kept_until = NULL
                    WHERE r.read_at <= now() - \(interval)
                      AND (\(.bool(waits)) OR r.kept_until IS NULL OR r.kept_until <= now())
                RETURNING r.publisher, r.customer
            ), kept AS (
                UPDATE entitlement_reads r SET kept_until = r.read_at + \(interval + keptFor)
                FROM input i
                WHERE \(.bool(waits)) AND r.bucket = i.bucket AND r.publisher = i.publisher AND r.customer = i.customer
                  AND NOT EXISTS (SELECT FROM taken t WHERE t.publisher = i.publisher AND t.customer = i.customer)
            )
            SELECT i.publisher, ROW(\(.keyOfTexts), i.customer) AS customer, t.customer IS NOT NULL AS is_taken,
                   greatest(coalesce(r.read_at, clock_timestamp()) + \(interval),
                            CASE WHEN NOT \(.bool(waits)) THEN r.kept_until END) AS free_at, clock_timestamp() AS now,
                   (SELECT true FROM pursuits p
                    WHERE p.customer = i.customer AND p.publisher IS NOT DISTINCT FROM i.publisher
                      AND p.phase = \(Pursuit.Phase.watching) AND (p.owner IS NULL OR p.due_at <= now())
                    LIMIT 1) IS NOT NULL AS has_siblings
            FROM input i
            LEFT JOIN taken t ON t.publisher = i.publisher AND t.customer = i.customer
            LEFT JOIN entitlement_reads r ON r.bucket = i.bucket AND r.publisher = i.publisher AND r.customer = i.customer
                 AND (r.read_at > now() - \(interval) OR r.kept_until > now())
            """
    }

    /// Stops every copy from reading this customer's entitlement before `pause` is over, by setting `read_at` to a
    /// later time. Index used: the primary key.
    ///
    /// - Parameter interval: the same as for ``takeReads(of:interval:)``.
    public func holdReads(of customer: CustomerKey, for pause: Duration, interval: Duration) async throws {
        let bucket = Bucket(of: customer.publisher, customer.customer)
        _ = try await database.query(
            """
            INSERT INTO entitlement_reads AS r (bucket, publisher, customer, read_at, sealed_by)
            VALUES (\(.int2(Int16(bucket.number))), \(.text(customer.publisher)), \(.privateText(customer.customer)),
                    now() + \(pause - interval), \(.keyOfTexts))
            ON CONFLICT (bucket, publisher, customer) DO UPDATE SET read_at = greatest(r.read_at, excluded.read_at)
            """)
    }

    /// Deletes reads too old to matter, up to a maximum per call.
    public func pruneReads() async throws -> Int {
        try await database.query(
            """
            DELETE FROM entitlement_reads WHERE (bucket, publisher, customer) IN (
                SELECT bucket, publisher, customer FROM entitlement_reads
                WHERE read_at < now() - interval '1 hour' LIMIT 5000)
            """
        ).affectedRows
    }
}
