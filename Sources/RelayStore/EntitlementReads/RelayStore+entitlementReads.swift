import Postgres
import RelayCore

extension RelayStore {
    /// One row a customer says when it was last read for; whoever moves it on has the right to read. A copy that is too
    /// early learns when it will not be: an interval from the last read that it can see, or from now where the one that was
    /// first is too fresh to be seen.
    private static let takeSQL = """
        WITH input AS (
            SELECT i.* FROM unnest($1::int2[], $2::text[], $3::text[]) AS i(bucket, publisher, customer)
            ORDER BY i.bucket, i.publisher, i.customer
        ), taken AS (
            INSERT INTO entitlement_reads AS r (bucket, publisher, customer, read_at, sealed_by)
            SELECT bucket, publisher, customer, now(), $5 FROM input
            ON CONFLICT (bucket, publisher, customer) DO UPDATE SET read_at = now()
                WHERE r.read_at <= now() - $4::int8 * interval '1 microsecond'
            RETURNING r.publisher, r.customer
        )
        SELECT i.publisher, ROW($5, i.customer), t.customer IS NOT NULL,
               coalesce(r.read_at, clock_timestamp()) + $4::int8 * interval '1 microsecond', clock_timestamp()
        FROM input i
        LEFT JOIN taken t ON t.publisher = i.publisher AND t.customer = i.customer
        LEFT JOIN entitlement_reads r ON r.bucket = i.bucket AND r.publisher = i.publisher AND r.customer = i.customer
             AND r.read_at > now() - $4::int8 * interval '1 microsecond'
        """

    /// `read_at` ahead of time, so that the next read is due when the upstream wants it. By primary key.
    private static let holdSQL = """
        INSERT INTO entitlement_reads AS r (bucket, publisher, customer, read_at, sealed_by)
        VALUES ($1, $2, $3, now() + $4::int8 * interval '1 microsecond', $5)
        ON CONFLICT (bucket, publisher, customer) DO UPDATE SET read_at = greatest(r.read_at, excluded.read_at)
        """

    private static let pruneSQL = """
        DELETE FROM entitlement_reads WHERE (bucket, publisher, customer) IN (
            SELECT bucket, publisher, customer FROM entitlement_reads
            WHERE read_at < now() - interval '1 hour' LIMIT 5000)
        """

    /// Whether each customer's entitlement may be read now, over all copies at most once in `interval`.
    ///
    /// - Parameter customers: without repeats.
    /// - Returns: nil for a customer who may be read now, else from when on.
    public func takeReads(
        of customers: [CustomerKey], interval: Duration
    ) async throws -> [CustomerKey: Timestamp?] {
        let sent = ContinuousClock.now
        let rows = try await pool.query(
            PostgresQuery(
                Self.takeSQL,
                [
                    .int2Array(customers.map { Int16(Bucket(of: $0.publisher, $0.customer).number) }),
                    .textArray(customers.map(\.publisher)), .privateTextArray(customers.map(\.customer)),
                    .int8(interval.microseconds), .keyOfTexts,
                ]))
        var answers: [CustomerKey: Timestamp?] = [:]
        for row in rows {
            let key = CustomerKey(publisher: try row.get(0), customer: try row.open(1))
            answers[key] = .some(try row.get(2, as: Bool.self) ? nil : try row.timestamp(3))
            clock.observe(try row.timestamp(4), sent: sent)
        }
        return answers
    }

    /// No copy reads this customer's entitlement before `pause` is over.
    ///
    /// - Parameter interval: as in ``takeReads(of:interval:)``.
    public func holdReads(of customer: CustomerKey, for pause: Duration, interval: Duration) async throws {
        _ = try await pool.query(
            PostgresQuery(
                Self.holdSQL,
                [
                    .int2(Int16(Bucket(of: customer.publisher, customer.customer).number)), .text(customer.publisher),
                    .privateText(customer.customer), .int8((pause - interval).microseconds), .keyOfTexts,
                ]))
    }

    /// Forgets reads too old to matter, a bounded number at a time.
    public func pruneEntitlementReads() async throws -> Int {
        try await pool.query(PostgresQuery(Self.pruneSQL)).affectedRows
    }
}
