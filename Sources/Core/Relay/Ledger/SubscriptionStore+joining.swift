import Postgres
public import RelayCore

/// Joins grants that stand alone to the subscription of their receipt, after Cleeng has moved that to their customer.
///
///     find     the customer's grants of the offer that stand alone
///     lock     their subscriptions, in key order; who owns them
///     write    the old owner's end, the new owner, the grants under the subscription's key, the ledger
extension SubscriptionStore {
    /// A move that Cleeng has reported.
    public struct ReportedMove: Sendable {
        public var to: EventSubject
        /// The customer who had it.
        public var from: CustomerID
        /// When Cleeng was asked, and no longer entitled that customer.
        public var saidAt: Timestamp
        /// Entry in the subscription's timeline.
        public var summary: String

        public init(to: EventSubject, from: CustomerID, saidAt: Timestamp, summary: String) {
            self.to = to
            self.from = from
            self.saidAt = saidAt
            self.summary = summary
        }
    }

    /// A grant that stands alone, and the subscription that its receipt names.
    public struct AloneGrant: Sendable {
        public var id: ValidationID
        public var alone: SubscriptionName
        public var named: SubscriptionName
        var expiresAt: Timestamp?
        var username: Username
    }

    /// The customer's grants of the offer that stand alone, the newest first. Index used: `validations_customer`.
    public func aloneGrants(of subject: EventSubject) async throws -> [AloneGrant] {
        try await database.query(
            """
            SELECT v.bucket, v.accepted_on - DATE 'epoch' AS day, v.id, v.publisher, v.environment, v.subscription_key,
                   v.expires_at, ROW(v.sealed_by, v.application_username) AS username
            FROM (SELECT * FROM validations v WHERE v.customer = \(.privateText(subject.customer)) OFFSET 0) AS v
            WHERE v.status = \(ValidationStatus.granted) AND v.subscription_key LIKE '%#%'
              AND v.offer_id = \(.text(subject.offerID)) AND \(subject.scope.includes("v.publisher"))
            ORDER BY v.accepted_at DESC, v.id DESC
            LIMIT 20
            """
        ).compactMap { row in
            let alone = try row.subscriptionName()
            guard let named = alone.named else { return nil }
            return AloneGrant(
                id: try row.validationID(), alone: alone, named: named, expiresAt: try row.timestampIfSet("expires_at"),
                username: try row.open("username"))
        }
    }

    /// Moves a subscription to the customer whose grants of it stand alone, and these grants to it. Does nothing if it
    /// is not clear which subscription Cleeng means.
    ///
    /// - Parameter grants: all of the same customer and offer, the newest first.
    /// - Returns: number of joined grants.
    public func join(_ grants: [AloneGrant], _ move: ReportedMove) async throws -> Int {
        guard !grants.isEmpty else { return 0 }
        try await relay.offers.ready()
        typealias Joined = (join: Join, changed: [Validation], closing: LedgerTransaction.Closing)
        let joined: Joined? = try await database.retryingConflicts {
            try await database.withTransaction { transaction in
                let locked = try await transaction.pipeline([Self.lock(grants), Self.owners(grants.map(\.named))])
                guard let join = Join(grants, try locked[1].map(OwnerOfNamed.init), move) else { return nil }
                let queries = join.queries(move, instance: memory.instance)
                let ledgers = LedgerTransaction([join.message(move)], memory: memory)
                let answers = try await transaction.pipeline(queries + ledgers.opening)
                guard answers[queries.count - 1].count == join.grants.count else {
                    throw StoreError.missingRow("a grant that stands alone")
                }
                let closing = try ledgers.apply(answers[queries.count...]).closing()
                let changed = try closing.changed(try await transaction.commit(with: closing.queries))
                let ended = join.transfer == nil ? [] : try answers[1].map(PurchaseStore.stored)
                return (join, ended + changed, closing)
            }
        }
        guard let (join, changed, closing) = joined else { return 0 }
        relay.publish([], customers: join.changes.map(\.customer))
        relay.publish(changed, closing)
        return join.grants.count
    }

    /// Locks the grants' own subscriptions and the ones that they name.
    private static func lock(_ grants: [AloneGrant]) -> SQL {
        let names = Set(grants.flatMap { [$0.alone, $0.named] }).sorted { $0.order < $1.order }
        return """
            SELECT true
            FROM (SELECT * FROM \(SQLTable.subscriptions(names), as: "i", ordinal: "ordinal") ORDER BY i.ordinal) AS i
            CROSS JOIN LATERAL (
                SELECT s.id FROM subscriptions s WHERE \(.sameSubscription("s", "i")) OFFSET 0 FOR UPDATE) AS s
            """
    }

    /// Reads the owners of these subscriptions, after they are locked.
    private static func owners(_ names: [SubscriptionName]) -> SQL {
        """
        SELECT s.publisher, s.environment, s.subscription_key, ROW(s.sealed_by, s.customer) AS customer,
               ROW(s.sealed_by, s.application_username) AS username, s.owner_no, s.owned_since,
               coalesce(s.validation_bucket, s.bucket) AS bucket, s.accepted_on - DATE 'epoch' AS day, s.id
        FROM \(SQLTable.subscriptions(Array(Set(names))), as: "i")
        CROSS JOIN LATERAL (SELECT * FROM subscriptions s WHERE \(.sameSubscription("s", "i")) OFFSET 0) AS s
        WHERE s.customer IS NOT NULL
        """
    }
}

/// The owner of a subscription that a grant which stands alone names.
private struct OwnerOfNamed {
    var name: SubscriptionName
    var customer: CustomerID
    var username: Username
    var validation: ValidationID
    var ownerNo: Int32
    var since: Timestamp

    init(_ row: PostgresRow) throws {
        name = try row.subscriptionName()
        customer = try row.open("customer")
        username = try row.open("username")
        validation = try row.validationID()
        ownerNo = try row.get("owner_no")
        since = try row.timestamp("owned_since")
    }
}

/// One subscription, and the grants that are joined to it.
private struct Join {
    typealias AloneGrant = SubscriptionStore.AloneGrant

    let grants: [AloneGrant]
    let newest: AloneGrant
    let owner: OwnerOfNamed
    /// Nil if the customer owns the subscription already.
    let transfer: Ownership.Transfer?

    private var name: SubscriptionName { owner.name }
    private var ownerNo: Int32 { owner.ownerNo + (transfer == nil ? 0 : 1) }

    /// Nil if Cleeng was asked before the owner's grant, or if no subscription or several may be meant.
    init?(_ grants: [AloneGrant], _ owners: [OwnerOfNamed], _ move: SubscriptionStore.ReportedMove) {
        let customer = move.to.customer
        let meant = owners.filter { owner in
            owner.customer == customer
                || (owner.since < move.saidAt && owner.customer == move.from)
        }
        guard meant.count == 1, let owner = meant.first else { return nil }
        self.grants = grants.filter { $0.named == owner.name }
        guard let newest = self.grants.first else { return nil }
        self.newest = newest
        self.owner = owner
        transfer =
            owner.customer == customer
            ? nil
            : Ownership.Transfer(
                subscription: owner.name, to: newest.id, toCustomer: customer, from: owner.validation,
                fromCustomer: owner.customer)
    }

    /// The statements in order. The old owner's grants end first, then the owner changes, then the grants carry its
    /// number, as in a settlement. The last one returns the joined grants.
    func queries(_ move: SubscriptionStore.ReportedMove, instance: String) -> [SQL] {
        var queries: [SQL] = []
        if let transfer {
            queries += TransferStatements.queries([transfer], instance: instance)
            queries.append(
                Ownership.take([
                    .init(id: newest.id, name: name, expiresAt: newest.expiresAt, ownerNo: ownerNo)
                ]))
            queries.append(CustomerChange.write(changes))
        }
        let alone = SQLTable.subscriptions(grants.map(\.alone))
        return queries + [carry(move.summary, instance), Self.remove(alone, from: "ledgers")]
            + [Self.remove(alone, from: "subscriptions"), joined]
    }

    /// Changes of the two customers' purchases; none if the subscription does not move.
    var changes: [CustomerChange] {
        func change(_ username: Username, _ reason: CustomerChange.Reason) -> CustomerChange {
            CustomerChange(
                customer: CustomerName(publisher: name.publisher, username: username), reason: reason,
                subscription: name)
        }
        guard transfer != nil else { return [] }
        let purchased = change(newest.username, .purchased)
        return newest.username == owner.username ? [purchased] : [purchased, change(owner.username, .other)]
    }

    func message(_ move: SubscriptionStore.ReportedMove) -> LedgerMessage {
        LedgerMessage(
            name,
            LedgerStatement(
                grantOf: move.to.offerID, at: move.saidAt, until: newest.expiresAt ?? move.saidAt, ownerNo: ownerNo),
            note: .init(event: "cleeng_event", saidAt: move.saidAt, detail: move.summary))
    }

    /// Writes the grants under the subscription's key, with its owner's number.
    private func carry(_ summary: String, _ instance: String) -> SQL {
        let keys: SQLTable = ["key": .textArray(grants.map(\.alone.originalTransactionID))]
        let noted = TimelineStatement.insert(
            unheld: "carried", event: "\(TimelineEvent.Kind.cleengEvent)", detail: "\(.text(summary))",
            instance: instance)
        return """
            WITH carried AS (
                UPDATE validations v
                SET subscription_key = \(.text(name.originalTransactionID)), owner_no = \(.int4(ownerNo))
                FROM \(SQLTable.ids(grants.map(\.id)) + keys, as: "i")
                WHERE \(.sameID("v", "i")) AND v.subscription_key = i.key AND v.status = \(ValidationStatus.granted)
                RETURNING v.*
            )
            \(noted)
            """
    }

    private static func remove(_ alone: SQLTable, from table: SQL) -> SQL {
        "DELETE FROM \(table) t USING \(alone, as: "i") WHERE \(.sameSubscription("t", "i"))"
    }

    private var joined: SQL {
        """
        SELECT v.id
        FROM \(SQLTable.ids(grants.map(\.id)), as: "i")
        JOIN validations v ON \(.sameID("v", "i")) AND v.subscription_key = \(.text(name.originalTransactionID))
        """
    }
}
