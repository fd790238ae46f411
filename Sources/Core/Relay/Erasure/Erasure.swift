import Postgres
import RelayCore

/// Erases one customer from the database: their names, receipts, purchases and messages.
///
/// The remaining rows identify no person: ledgers and notifications (by the store's ids), contracts (by the publisher's
/// ids), the entry in the audit log. A customer with purchases that are pending or not sent yet is not erased, since a
/// receipt is never lost.
public struct Erasure: Sendable {
    /// Replaces the name in rows that concern another customer too.
    public static let mark = "erased"

    /// How many rows of each kind were erased.
    public struct Outcome: Sendable, Equatable {
        public var validations = 0
        public var subscriptions = 0
        public var transfers = 0
        public var messages = 0
        /// Rows of features whose texts mentioned the customer, by the name of their list in an export.
        public var mentions: [String: Int] = [:]
        /// Rows of features that cannot be opened. They stay, and may mention the customer.
        public var unreadable = 0
    }

    public enum Refusal: Error, Equatable, CustomStringConvertible {
        case pending(Int)
        case unknown
        /// A name that customers of several publishers have.
        case severalPublishers

        public var description: String {
            switch self {
            case .pending(let count):
                "\(count) of their purchases are still waited for or not sent yet: wait until they are settled, or abandon them (`validations abandon`)"
            case .unknown: "nothing is known of that customer"
            case .severalPublishers: "customers of several publishers have that name: say whose with --publisher"
            }
        }
    }

    let store: RelayStore

    public init(store: RelayStore) { self.store = store }

    /// - Parameters:
    ///   - asked: who is erased. It is read again, since a worker may have settled a purchase meanwhile.
    ///   - entry: for the audit log, without the customer's name.
    /// - Throws: ``Refusal``, ``PostgresError``. Nothing is erased then.
    public func run(_ asked: CustomerIdentity, _ entry: AuditEntry) async throws -> Outcome {
        try await store.transaction(timeout: .seconds(600)) {
            try await Erasure(store: $0).erase(asked, entry)
        }
    }

    private func erase(_ asked: CustomerIdentity, _ entry: AuditEntry) async throws -> Outcome {
        var outcome = Outcome()
        // Only an email is searched for in texts: any other name could be part of one by chance.
        if asked.isEmail {
            for rows in store.customers.mentioning {
                let (erased, unreadable) = try await store.customers.erase(rows, mentioning: asked.customer)
                outcome.mentions[rows.member] = erased
                outcome.unreadable += unreadable
            }
        }
        let identity = try await locked(asked)
        guard !identity.isUnknown || outcome.mentions.values.contains(where: { $0 > 0 }) else { throw Refusal.unknown }
        let steps = Self.steps(identity, try await store.publishers.ids())
        let queries = steps.map(\.sql) + [AuditStore.query(auditing: entry)]
        let answers = try await store.database.withTransaction { try await $0.commit(with: queries) }
        for (step, rows) in zip(steps, answers) {
            if let counted = step.counted { outcome[keyPath: counted] = rows.affectedRows }
        }
        let customers = store.customers
        store.database.afterCommit { customers.forget(identity) }
        return outcome
    }

    /// Finds the customer's rows and locks the pursuits of the purchases. A worker locks a pursuit before it settles
    /// the purchase, so no settlement makes this customer an owner until the erasure ends.
    ///
    /// - Throws: ``Refusal/pending(_:)``.
    private func locked(_ asked: CustomerIdentity) async throws -> CustomerIdentity {
        var identity = asked
        while true {
            let pursuits = try await store.database.query(
                """
                SELECT (p.status = \(ValidationStatus.pending) AND p.deadline > now()) OR p.phase IN \(Pursuit.Phase.unsent)
                       OR p.phase = \(Pursuit.Phase.parked) AND p.forwards = 0 AS is_open
                FROM \(.ids(identity.validations), as: "i")
                JOIN pursuits p ON p.bucket = i.bucket AND p.id = i.id
                ORDER BY p.bucket, p.id
                FOR UPDATE OF p
                """)
            let pending = try pursuits.count { try $0.get("is_open", as: Bool.self) }
            guard pending == 0 else { throw Refusal.pending(pending) }
            let again = try await store.customers.identity(of: asked.text, publisher: asked.publisher)
            guard again.validations != identity.validations else { return again }
            identity = again
        }
    }

    private struct Step {
        var sql: SQL
        var counted: WritableKeyPath<Outcome, Int>?

        init(_ sql: SQL, counted: WritableKeyPath<Outcome, Int>? = nil) {
            self.sql = sql
            self.counted = counted
        }
    }

    /// The steps, in order. Those that read whole tables come first: apps that send the purchase again wait for its key.
    /// Validations are deleted after the rows that are found by them, and before the subscriptions that granted
    /// validations reference.
    private static func steps(_ identity: CustomerIdentity, _ publishers: Set<PublisherID>) -> [Step] {
        let customer = PostgresValue.privateText(identity.customer)
        let asUsername = Username(identity.customer.text)
        let mark = PostgresValue.privateText(Self.mark)
        let ids = SQLTable.ids(identity.validations)
        let names = SQLTable.customers(identity.names)
        func weekly(_ table: String) -> SQL {
            """
            DELETE FROM \(unescaped: table) t
            USING \(ids, as: "i")
            WHERE t.bucket = i.bucket AND t.accepted_on = DATE 'epoch' + i.day AND t.id = i.id
            """
        }
        return [
            // The other customer of a transfer stays in its row. Reads the whole table.
            Step(
                """
                UPDATE transfers
                SET from_customer = CASE WHEN from_customer = \(customer) THEN \(mark) ELSE from_customer END,
                    to_customer = CASE WHEN to_customer = \(customer) THEN \(mark) ELSE to_customer END,
                    sealed_by = \(.keyOfTexts)
                WHERE from_customer = \(customer) OR to_customer = \(customer)
                """, counted: \.transfers),
            // Index used: `webhook_deliveries_lane`.
            Step(
                """
                DELETE FROM webhook_deliveries d USING \(names, as: "i")
                WHERE d.bucket = i.bucket AND d.lane = i.username AND d.publisher = i.publisher
                """, counted: \.messages),
            Step(previousOwner(identity, mark)),
            Step("DELETE FROM outbox WHERE customer = \(customer)"),
            Step(
                """
                UPDATE audit_log SET target = \(mark), sealed_by = \(.keyOfTexts)
                WHERE target = ANY (\(.privateTextArray(Array(Set(identity.names.map(\.username) + [asUsername])))))
                """),
            // Without its key, the same purchase counts as new if the app sends it again.
            Step(
                """
                DELETE FROM purchases p
                USING \(ids, as: "i")
                JOIN validations v ON v.bucket = i.bucket AND v.accepted_on = DATE 'epoch' + i.day AND v.id = i.id
                WHERE p.bucket = get_byte(v.purchase_key, 0) AND p.key = v.purchase_key AND p.id = v.id
                """),
            Step("DELETE FROM pursuits p USING \(ids, as: "i") WHERE p.bucket = i.bucket AND p.id = i.id"),
            Step(weekly("receipts")), Step(weekly("timeline")), Step(weekly("validations"), counted: \.validations),
            Step(
                """
                DELETE FROM subscriptions s
                USING \(.subscriptions(identity.subscriptions), as: "i")
                WHERE s.bucket = i.bucket AND s.publisher = i.publisher AND s.environment = i.environment
                  AND s.subscription_key = i.subscription_key
                """, counted: \.subscriptions),
            Step(
                """
                DELETE FROM customers c USING \(names, as: "i")
                WHERE c.bucket = i.bucket AND c.publisher = i.publisher AND c.username = i.username
                """),
            Step(
                """
                DELETE FROM entitlement_reads r
                USING \(.customers(publishers.map { CustomerName(publisher: $0, username: asUsername) }), as: "i")
                WHERE r.bucket = i.bucket AND r.publisher = i.publisher AND r.customer = i.username
                """),
            // Another publisher's customer may have the same name.
            Step(
                """
                DELETE FROM webhook_queue q
                USING \(names, as: "i")
                JOIN webhook_endpoints e ON e.publisher = i.publisher
                WHERE q.bucket = i.bucket AND q.lane = i.username AND q.endpoint = e.id
                """),
            Step(
                """
                DELETE FROM consumption_facts f USING \(names, as: "i")
                WHERE f.bucket = i.bucket AND f.publisher = i.publisher AND f.username = i.username
                """),
            // Index used: `consumption_requests_customer`. Open requests end without an answer, even if a copy has
            // claimed one. A consent of the purchase's earlier customer does not count for this one.
            Step(
                """
                UPDATE consumption_requests r
                SET username = NULL, sealed_by = NULL, owner = NULL, parked_at = NULL, fence = r.fence + 1, due_at = 'infinity',
                    state = CASE WHEN r.state <= 2 THEN \(.int2(ConsumptionState.noConsent.rawValue)) ELSE r.state END,
                    ended_at = coalesce(r.ended_at, now())
                FROM \(names, as: "i")
                WHERE r.publisher = i.publisher AND r.username = i.username
                """),
        ]
    }

    /// Erases the customer as the previous owner of subscriptions. Reads the whole table.
    private static func previousOwner(_ identity: CustomerIdentity, _ mark: PostgresValue) -> SQL {
        let customer = PostgresValue.privateText(identity.customer)
        let isTheirs: SQL = """
            (publisher, previous_username) IN (SELECT i.publisher, i.username FROM \(.customers(identity.names), as: "i"))
            """
        return """
            UPDATE subscriptions
            SET previous_customer = CASE WHEN previous_customer = \(customer) THEN \(mark) ELSE previous_customer END,
                previous_username = CASE WHEN \(isTheirs) THEN \(mark) ELSE previous_username END,
                sealed_by = \(.keyOfTexts)
            WHERE previous_customer = \(customer) OR \(isTheirs)
            """
    }
}

extension CustomerStore {
    /// Removes the customer from the caches.
    func forget(_ identity: CustomerIdentity) {
        memory.validations.changed(identity.validations)
        memory.customerPurchases.changed(identity.names)
    }
}
