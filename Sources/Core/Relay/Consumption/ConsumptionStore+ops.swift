import Postgres
public import RelayCore

extension ConsumptionStore {
    /// A page, the newest first. Index used: `consumption_requests_newest`, backwards.
    public func list(
        matching filter: ConsumptionFilter, in scope: OpsScope
    ) async throws -> (items: [OpsConsumption], next: ValidationCursor?) {
        let state = PostgresValue.int2(filter.state?.rawValue)
        let (key, at) = (
            PostgresValue.text(filter.originalTransactionID),
            PostgresValue.timestamptz(filter.cursor?.acceptedAt.postgres)
        )
        let rows = try await database.query(
            """
            \(Self.columns)
            WHERE (\(state) IS NULL OR r.state = \(state)) AND (\(key) IS NULL OR r.subscription_key = \(key))
              AND (\(at) IS NULL OR (r.asked_at, r.id) < (\(at), \(.uuid(filter.cursor?.id.uuid))))
              AND \(scope.includes("r.publisher"))
            ORDER BY r.asked_at DESC, r.id DESC
            LIMIT \(.int4(Int32(clamping: filter.limit + 1)))
            """)
        let page = try rows.prefix(filter.limit).map(Self.request)
        guard rows.count > filter.limit, let last = page.last else { return (page, nil) }
        return (page, ValidationCursor(acceptedAt: last.askedAt, id: last.id))
    }

    /// Requests about a customer's purchases, a thousand at most. Index used: `consumption_requests_customer`.
    public func requests(about customer: CustomerName) async throws -> [OpsConsumption] {
        try await database.query(
            """
            \(Self.columns)
            WHERE r.publisher = \(.text(customer.publisher)) AND r.username = \(.privateText(customer.username))
            ORDER BY r.asked_at DESC
            LIMIT 1000
            """
        ).map(Self.request)
    }

    /// Open requests that are due soon. Sandbox purchases do not count: their refunds are not decided.
    private static let isEndangered: SQL = """
        r.state = 1 AND r.environment = \(.text(StoreEnvironment.production)) AND r.deadline < now() + interval '2 hours'
        """

    /// Counts of open requests. Index used: `consumption_requests_due`.
    public func backlog(in scope: OpsScope) async throws -> ConsumptionBacklog {
        let rows = try await database.query(
            """
            SELECT count(*) AS waiting, count(*) FILTER (WHERE r.state = 2) AS without_consent,
                   count(*) FILTER (WHERE \(Self.isEndangered)) AS endangered,
                   max(r.trouble) FILTER (WHERE \(Self.isEndangered)) AS trouble,
                   (extract(epoch FROM now() - min(r.asked_at)) * 1000000)::int8 AS age
            FROM consumption_requests r
            WHERE r.state <= 2 AND r.parked_at IS NULL AND \(scope.includes("r.publisher"))
            """)
        guard let row = rows.first else { throw StoreError.missingRow("requests about refunds") }
        return ConsumptionBacklog(
            waiting: try row.get("waiting"), withoutConsent: try row.get("without_consent"),
            endangered: try row.get("endangered"), trouble: try row.get("trouble"),
            oldest: try row.get("age", as: Int64?.self).map { .microseconds($0) })
    }

    private static let columns: SQL = """
        SELECT r.bucket, r.accepted_on - DATE 'epoch' AS day, r.id, r.state, r.publisher, r.environment, r.subscription_key,
               r.transaction_id, r.bundle_id, r.reason, r.asked_at, r.deadline, r.ended_at, r.attempts, r.trouble, r.answer,
               r.parked_at, CASE WHEN r.state <= 2 AND r.parked_at IS NULL AND r.owner IS NULL THEN r.due_at END AS next_try,
               ROW(r.sealed_by, r.username) AS username,
               (SELECT min(v.accepted_at) FROM validations v
                WHERE v.bucket = r.bucket AND v.subscription_key = r.subscription_key AND v.publisher = r.publisher) AS customer_since
        FROM consumption_requests r
        """

    private static func request(_ row: PostgresRow) throws -> OpsConsumption {
        OpsConsumption(
            id: try row.validationID(), state: ConsumptionState(rawValue: try row.get("state")) ?? .waiting,
            publisher: try row.get("publisher"), environment: try row.get("environment"),
            originalTransactionID: try row.get("subscription_key"), transactionID: try row.get("transaction_id"),
            bundleID: try row.get("bundle_id"), reason: try row.get("reason"), askedAt: try row.timestamp("asked_at"),
            deadline: try row.timestamp("deadline"), endedAt: try row.timestampIfSet("ended_at"),
            attempts: try row.get("attempts"), nextTryAt: try row.timestampIfSet("next_try"),
            lastError: try row.get("trouble"), answer: try row.get("answer"),
            // An unreadable name may be why the row is parked: the list must still show the other rows.
            applicationUsername: (try? row.open("username", as: Username?.self)) ?? nil,
            parkedAt: try row.timestampIfSet("parked_at"),
            boughtAt: try row.timestampIfSet("customer_since"))
    }
}

/// Filter of a list of requests.
public struct ConsumptionFilter: Sendable {
    public var state: ConsumptionState?
    public var originalTransactionID: TransactionID?
    public var limit: Int
    public var cursor: ValidationCursor?

    public init(
        state: ConsumptionState? = nil, originalTransactionID: TransactionID? = nil, limit: Int = 50,
        cursor: ValidationCursor? = nil
    ) {
        self.state = state
        self.originalTransactionID = originalTransactionID
        self.limit = limit
        self.cursor = cursor
    }
}

/// A consumption request from Apple, as operators see it.
public struct OpsConsumption: Sendable {
    public var id: NotificationID
    public var state: ConsumptionState
    public var publisher: PublisherID
    public var environment: StoreEnvironment
    public var originalTransactionID: TransactionID
    public var transactionID: TransactionID
    public var bundleID: BundleID
    /// The customer's reason for the refund, in Apple's terms.
    public var reason: String?
    public var askedAt: Timestamp
    public var deadline: Timestamp
    public var endedAt: Timestamp?
    public var attempts: Int
    public var nextTryAt: Timestamp?
    public var lastError: String?
    /// The answer that Apple accepted or rejected: JSON.
    public var answer: String?
    public var applicationUsername: Username?
    public var parkedAt: Timestamp?
    /// When the relay received the subscription's first purchase. Apple's present API does not ask for it.
    public var boughtAt: Timestamp?
}

/// Apple's requests that wait for an answer.
public struct ConsumptionBacklog: Sendable, Equatable {
    public var waiting = 0
    /// Requests among them whose customer has not consented.
    public var withoutConsent = 0
    /// Requests with consent that are unanswered and due within two hours.
    public var endangered = 0
    /// The last error of one of these.
    public var trouble: String?
    public var oldest: Duration?

    public init() {}

    init(waiting: Int, withoutConsent: Int, endangered: Int, trouble: String?, oldest: Duration?) {
        self.waiting = waiting
        self.withoutConsent = withoutConsent
        self.endangered = endangered
        self.trouble = trouble
        self.oldest = oldest
    }
}
