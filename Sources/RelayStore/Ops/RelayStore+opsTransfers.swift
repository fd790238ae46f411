import Postgres
public import RelayCore

/// A subscription that passed from one customer to another.
public struct OpsTransfer: Sendable {
    public var name: SubscriptionName
    public var from: CustomerID
    public var to: CustomerID
    public var fromValidation: ValidationID
    public var toValidation: ValidationID
    public var at: Timestamp
}

extension RelayStore {
    /// Index used: `transfers_newest`, backwards.
    private static let transfersSQL = """
        SELECT t.publisher, t.environment, t.subscription_key, ROW(t.sealed_by, t.from_customer),
               ROW(t.sealed_by, t.to_customer), coalesce(t.from_bucket, t.bucket), t.from_accepted_on - DATE 'epoch', t.from_id, t.bucket,
               t.to_accepted_on - DATE 'epoch', t.to_id, t.at
        FROM transfers t
        WHERE ($2::timestamptz IS NULL OR (t.at, t.to_id) < ($2, $3::uuid))
          AND ($4::text IS NULL OR t.subscription_key = $4)
          AND ($5::text IS NULL OR t.from_customer = $5 OR t.to_customer = $5)
          AND \(OpsScope.sql("t.publisher", 6))
        ORDER BY t.at DESC, t.to_id DESC
        LIMIT $1
        """

    /// A page, newest first.
    ///
    /// - Parameters:
    ///   - cursor: of the last of a page: when it was, and the new owner's validation.
    public func transfers(
        originalTransactionID: TransactionID?, customer: CustomerID?, limit: Int, cursor: ValidationCursor?,
        in scope: OpsScope
    ) async throws -> (items: [OpsTransfer], next: ValidationCursor?) {
        let rows = try await pool.query(
            PostgresQuery(
                Self.transfersSQL,
                [
                    .int4(Int32(clamping: limit + 1)), .timestamptz(cursor?.acceptedAt.postgres),
                    .uuid(cursor?.id.uuid), .text(originalTransactionID), .privateText(customer),
                    scope.parameter,
                ]))
        let page = try rows.prefix(limit).map { row in
            OpsTransfer(
                name: SubscriptionName(
                    publisher: try row.get(0), environment: try row.get(1), originalTransactionID: try row.get(2)),
                from: try row.open(3), to: try row.open(4),
                fromValidation: try row.validationID(bucket: 5, day: 6, id: 7),
                toValidation: try row.validationID(bucket: 8, day: 9, id: 10), at: try row.timestamp(11))
        }
        guard rows.count > limit, let last = page.last else { return (page, nil) }
        return (page, ValidationCursor(acceptedAt: last.at, id: last.toValidation))
    }
}
