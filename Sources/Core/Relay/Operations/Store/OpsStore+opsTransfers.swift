import Postgres
public import RelayCore

/// A transfer of a subscription from one customer to another.
public struct OpsTransfer: Sendable {
    public var name: SubscriptionName
    public var from: CustomerID
    public var to: CustomerID
    public var fromValidation: ValidationID
    public var toValidation: ValidationID
    public var at: Timestamp
}

/// Selection of transfers.
public struct TransferFilter: Sendable {
    public var originalTransactionID: TransactionID?
    /// The old or the new owner.
    public var customer: CustomerID?
    public var limit: Int
    /// Last row of the previous page, by time of the transfer and the new owner's validation.
    public var cursor: ValidationCursor?

    public init(
        originalTransactionID: TransactionID? = nil, customer: CustomerID? = nil, limit: Int = 50,
        cursor: ValidationCursor? = nil
    ) {
        self.originalTransactionID = originalTransactionID
        self.customer = customer
        self.limit = limit
        self.cursor = cursor
    }
}

extension OpsStore {
    /// A page of transfers, newest first. Index used: `transfers_newest`, backwards.
    public func transfers(
        matching filter: TransferFilter, in scope: OpsScope
    ) async throws -> (items: [OpsTransfer], next: ValidationCursor?) {
        let at = PostgresValue.timestamptz(filter.cursor?.acceptedAt.postgres)
        let customer = PostgresValue.privateText(filter.customer)
        let rows = try await database.query(
            """
            SELECT t.publisher, t.environment, t.subscription_key, ROW(t.sealed_by, t.from_customer) AS from_customer,
                   ROW(t.sealed_by, t.to_customer) AS to_customer, coalesce(t.from_bucket, t.bucket) AS from_bucket,
                   t.from_accepted_on - DATE 'epoch' AS from_day, t.from_id, t.bucket,
                   t.to_accepted_on - DATE 'epoch' AS to_day, t.to_id, t.at
            FROM transfers t
            WHERE (\(at) IS NULL OR (t.at, t.to_id) < (\(at), \(.uuid(filter.cursor?.id.uuid))))
              AND (\(.text(filter.originalTransactionID)) IS NULL OR t.subscription_key = \(.text(filter.originalTransactionID)))
              AND (\(customer) IS NULL OR t.from_customer = \(customer) OR t.to_customer = \(customer))
              AND \(scope.includes("t.publisher"))
            ORDER BY t.at DESC, t.to_id DESC
            LIMIT \(.int4(Int32(clamping: filter.limit + 1)))
            """)
        let page = try rows.prefix(filter.limit).map { row in
            OpsTransfer(
                name: try row.subscriptionName(), from: try row.open("from_customer"), to: try row.open("to_customer"),
                fromValidation: try row.validationID(bucket: "from_bucket", day: "from_day", id: "from_id"),
                toValidation: try row.validationID(day: "to_day", id: "to_id"), at: try row.timestamp("at"))
        }
        guard rows.count > filter.limit, let last = page.last else { return (page, nil) }
        return (page, ValidationCursor(acceptedAt: last.at, id: last.toValidation))
    }
}
