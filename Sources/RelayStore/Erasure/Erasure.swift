import Postgres
import RelayCore

/// Takes one customer out of the database: who they are, what they sent, what was said about them.
///
/// What stays names nobody: the ledger of a subscription and what Apple said of it (by its numbers), contracts (by the publisher's ids), the
/// line in the audit log. What still waits for Cleeng is not thrown away: a receipt is never lost.
public struct Erasure: Sendable {
    /// In place of who it was, where a row is of somebody else too.
    public static let mark = "erased"

    /// So many of each went.
    public struct Outcome: Sendable, Equatable {
        public var validations = 0
        public var subscriptions = 0
        public var transfers = 0
        public var messages = 0
        public var events = 0
        public var billingCustomers = 0
    }

    public enum Refusal: Error, Equatable, CustomStringConvertible {
        case pending(Int)
        case unknown

        public var description: String {
            switch self {
            case .pending(let count):
                "\(count) of their purchases are still waited for: wait until they are settled, or abandon them (`validations abandon`)"
            case .unknown: "nothing is known of that customer"
            }
        }
    }

    let store: RelayStore

    public init(store: RelayStore) {
        self.store = store
    }

    private static let ids = "unnest($1::int2[], $2::int4[], $3::uuid[]) AS i(bucket, day, id)"
    private static let names = "unnest($1::int2[], $2::text[], $3::text[]) AS i(bucket, publisher, username)"

    private static let pendingSQL = """
        SELECT count(*) FROM \(ids) JOIN pursuits p ON p.bucket = i.bucket AND p.id = i.id WHERE p.status = 0
        """

    /// Who sends the same purchase again begins afresh.
    private static let purchasesSQL = """
        DELETE FROM purchases p
        USING \(ids)
        JOIN validations v ON v.bucket = i.bucket AND v.accepted_on = DATE 'epoch' + i.day AND v.id = i.id
        WHERE p.bucket = get_byte(v.purchase_key, 0) AND p.key = v.purchase_key AND p.id = v.id
        """

    private static let pursuitsSQL = "DELETE FROM pursuits p USING \(ids) WHERE p.bucket = i.bucket AND p.id = i.id"

    private static func weekly(_ table: String) -> String {
        """
        DELETE FROM \(table) t
        USING \(ids)
        WHERE t.bucket = i.bucket AND t.accepted_on = DATE 'epoch' + i.day AND t.id = i.id
        """
    }

    /// The other side keeps its half. All of the table is read.
    private static let transfersSQL = """
        UPDATE transfers
        SET from_customer = CASE WHEN from_customer = $1 THEN $2 ELSE from_customer END,
            to_customer = CASE WHEN to_customer = $1 THEN $2 ELSE to_customer END, sealed_by = $3
        WHERE from_customer = $1 OR to_customer = $1
        """

    private static let subscriptionsSQL = """
        DELETE FROM subscriptions s
        USING unnest($1::int2[], $2::text[], $3::text[], $4::text[]) AS i(bucket, publisher, environment, key)
        WHERE s.bucket = i.bucket AND s.publisher = i.publisher AND s.environment = i.environment
          AND s.subscription_key = i.key
        """

    private static let isOneOfTheirs =
        "(publisher, previous_username) IN (SELECT * FROM unnest($4::text[], $5::text[]))"

    /// Who owned a subscription before its owner. All of the table is read.
    private static let previousSQL = """
        UPDATE subscriptions
        SET previous_customer = CASE WHEN previous_customer = $1 THEN $2 ELSE previous_customer END,
            previous_username = CASE WHEN \(isOneOfTheirs) THEN $2 ELSE previous_username END, sealed_by = $3
        WHERE previous_customer = $1 OR \(isOneOfTheirs)
        """

    private static let customersSQL = """
        DELETE FROM customers c USING \(names)
        WHERE c.bucket = i.bucket AND c.publisher = i.publisher AND c.username = i.username
        """

    private static let readsSQL = """
        DELETE FROM entitlement_reads r USING \(names)
        WHERE r.bucket = i.bucket AND r.publisher = i.publisher AND r.customer = i.username
        """

    /// Another publisher's customer may have the same name.
    private static let queueSQL = """
        DELETE FROM webhook_queue q
        USING \(names)
        JOIN webhook_endpoints e ON e.publisher = i.publisher
        WHERE q.bucket = i.bucket AND q.lane = i.username AND q.endpoint = e.id
        """

    /// Index used: `webhook_deliveries_lane`.
    private static let messagesSQL = """
        DELETE FROM webhook_deliveries d USING \(names)
        WHERE d.bucket = i.bucket AND d.lane = i.username AND d.publisher = i.publisher
        """

    private static let auditSQL = """
        UPDATE audit_log SET target = $1, sealed_by = $3 WHERE target = ANY ($2::text[])
        """
    private static let outboxSQL = "DELETE FROM outbox WHERE customer = $1"

    /// - Parameter entry: for the audit log; it names nobody.
    /// - Throws: ``Refusal``, ``PostgresError``; then nothing is gone but, perhaps, events of Cleeng's.
    public func run(_ identity: CustomerIdentity, _ entry: AuditEntry) async throws -> Outcome {
        guard !identity.isUnknown else { throw Refusal.unknown }
        var outcome = Outcome()
        outcome.events = try await store.eraseEvents(mentioning: identity.customer)
        outcome.billingCustomers = try await store.eraseBillingCustomers(mentioning: identity.customer)
        let written = try await store.pool.withTransaction(timeout: .seconds(120)) { transaction in
            let ids = Settlement.keys(identity.validations)
            let pending = try await transaction.query(PostgresQuery(Self.pendingSQL, ids)).first?.get(0) ?? 0
            guard pending == 0 else { throw Refusal.pending(pending) }
            let queries = try await statements(identity, ids)
            let answers = try await transaction.commit(with: queries + [RelayStore.query(auditing: entry)])
            return answers.map(\.affectedRows)
        }
        (outcome.validations, outcome.transfers, outcome.subscriptions, outcome.messages) = (
            written[6], written[1], written[7], written[2]
        )
        store.forget(identity)
        return outcome
    }

    /// Validations after what is found by them, and before the subscriptions that granted ones refer to.
    private func statements(_ identity: CustomerIdentity, _ ids: [PostgresValue]) async throws -> [PostgresQuery] {
        func keys(_ names: [CustomerName]) -> [PostgresValue] {
            [
                .int2Array(names.map { Int16($0.bucket.number) }), .textArray(names.map(\.publisher)),
                .privateTextArray(names.map(\.username)),
            ]
        }
        let names = keys(identity.names)
        let reads = keys(
            try await store.publishers().map { CustomerName(publisher: $0, username: Username(identity.customer.text)) }
        )
        let customer = PostgresValue.privateText(identity.customer)
        let mark = PostgresValue.privateText(Self.mark)
        let targets = PostgresValue.privateTextArray(
            Array(Set(identity.names.map(\.username) + [Username(identity.customer.text)])))
        return [
            PostgresQuery(Self.purchasesSQL, ids),
            PostgresQuery(Self.transfersSQL, [customer, mark, .keyOfTexts]),
            PostgresQuery(Self.messagesSQL, names),
            PostgresQuery(Self.pursuitsSQL, ids), PostgresQuery(Self.weekly("receipts"), ids),
            PostgresQuery(Self.weekly("timeline"), ids), PostgresQuery(Self.weekly("validations"), ids),
            PostgresQuery(Self.subscriptionsSQL, LedgerHearing.keys(identity.subscriptions)),
            PostgresQuery(Self.previousSQL, [customer, mark, .keyOfTexts, names[1], names[2]]),
            PostgresQuery(Self.customersSQL, names),
            PostgresQuery(Self.readsSQL, reads), PostgresQuery(Self.queueSQL, names),
            PostgresQuery(Self.outboxSQL, [customer]),
            PostgresQuery(Self.auditSQL, [mark, targets, .keyOfTexts]),
        ]
    }
}

extension RelayStore {
    /// Nothing of it is told from memory any more.
    func forget(_ identity: CustomerIdentity) {
        settled.changed(identity.validations)
        told.changed(identity.names)
    }
}
