import Foundation
package import Postgres
package import RelayCore
import Traces

extension LedgerTransaction {
    /// The final statements, and the positions of those that return changed validations.
    package struct Closing {
        package var queries: [SQL] = []
        var changes: [Int] = []
        /// Customers whose purchases changed.
        var customers: [CustomerName] = []
        /// Whether messages for endpoints were queued.
        package var hasMessages = false
        /// Whether a store must be asked.
        var asksStores = false
        /// Whether subscriptions were made due.
        var makesDue = false

        package static var nothing: Closing { Closing() }

        package func changed(_ answers: [PostgresRows]) throws -> [Validation] {
            try changes.flatMap { try answers[$0].map(PurchaseStore.stored) }
        }
    }

    /// Makes subscriptions due. Index used: the primary key.
    static func lookAgain(at names: [SubscriptionName]) -> SQL {
        """
        UPDATE ledgers l
        SET due_at = least(l.due_at, now())
        FROM \(.subscriptions(names), as: "i")
        WHERE \(.sameSubscription("l", "i")) AND l.parked_at IS NULL
        """
    }
}

/// Ledgers after a transaction's statements about them, before they are written.
package struct AppliedLedgers: Sendable {
    let memory: StoreMemory
    package var batch: LedgerBatch
    /// One of each of ``StoreMemory/participants``.
    var parts: [LedgerPart]

    /// - Parameters:
    ///   - new: subscriptions without a ledger.
    ///   - grants: changes of customers by the grants that the transaction records.
    package func closing(new: Set<SubscriptionName> = [], grants: [CustomerChange] = []) -> LedgerTransaction.Closing {
        var closing = LedgerTransaction.Closing(queries: Self.write(batch.all, new: new))
        let noted = batch.all.filter(\.isNoted)
        if !noted.isEmpty { closing.queries.append(events(noted)) }
        closing.queries += batch.ownerMoves.map(Self.move)
        let transfers = batch.transfers
        if !transfers.isEmpty {
            closing.queries += TransferStatements.queries(transfers, instance: memory.instance)
            closing.changes.append(closing.queries.count - 1)
        }
        closing.queries += Self.write(presentOffers: batch.presentOffers)
        let changes = batch.customerChanges(after: grants, trace: StoredTrace.current)
        if !changes.isEmpty { closing.queries.append(CustomerChange.write(changes)) }
        closing.customers = changes.map(\.customer)
        let additions = parts.map { $0.close(batch) }
        let messages = additions.flatMap(\.messages)
        closing.queries += additions.flatMap(\.queries)
        if !messages.isEmpty { closing.queries += DeliveryStatements.enqueue(messages) }
        closing.hasMessages = !messages.isEmpty
        let asked = batch.newlyOwned.filter { memory.acknowledged.contains($0.message.name.platform) }
        closing.queries += asked.map {
            QuestionStore.ask(
                afterGrantOn: $0.message.name, bundleID: $0.found.bundleID, productID: $0.state?.productID)
        }
        closing.asksStores = !asked.isEmpty
        closing.makesDue = batch.all.contains { $0.dueAt == $0.found.now }
        let judged = batch.all.filter { one in
            [one.found.status, one.state?.status].contains { $0?.grantsAccess == false }
        }.compactMap(\.message.name.onlyNamed)
        if !judged.isEmpty {
            // Only apps gave their purchases this id, and Apple has ended or revived the subscription that it names.
            closing.queries.append(LedgerTransaction.lookAgain(at: judged))
            closing.makesDue = true
        }
        let access = batch.accessChanges
        if !access.isEmpty {
            closing.queries.append(self.access(access))
            closing.changes.append(closing.queries.count - 1)
        }
        return closing
    }

    private static func columns(_ ledgers: [LedgerChange]) -> SQLTable {
        let states = ledgers.map(\.shown)
        let shown: SQLTable = [
            "status": .int2Array(states.map { $0?.status.rawValue }),
            "will_renew": .boolArray(states.map { $0?.willRenew }),
            "expires_at": .timestamptzArray(states.map { $0?.expiresAt?.postgres }),
            "product_id": .textArray(states.map { $0?.productID }),
            "auto_renew_product_id": .textArray(states.map { $0?.autoRenewProductID }),
            "reason": .textArray(states.map { $0?.reason }),
        ]
        let rest: SQLTable = [
            "state": .textArray(ledgers.map { LedgerJSON.text($0.ledger) }),
            "due_at": .timestamptzArray(ledgers.map { $0.dueAt?.postgres }),
            "transaction_id": .textArray(ledgers.map(\.newestTransaction)),
            "bundle_id": .textArray(ledgers.map(\.found.bundleID)),
        ]
        return SQLTable.subscriptions(ledgers.map(\.message.name)) + shown + rest
            + LedgerTransaction.grantColumns(ledgers.map { $0.recordsGrant ? $0.message : nil })
    }

    /// Each is in key order, the lock order of every writer.
    private static func write(_ ledgers: [LedgerChange], new: Set<SubscriptionName>) -> [SQL] {
        let (known, made) = (
            ledgers.filter { !new.contains($0.message.name) }, ledgers.filter { new.contains($0.message.name) }
        )
        return (known.isEmpty ? [] : [update(known)]) + (made.isEmpty ? [] : [insert(made)])
    }

    /// Another transaction may have inserted one of them in the meantime. Then the insert violates the primary key, and
    /// the transaction runs again: the other one may know of a refund.
    private static func insert(_ ledgers: [LedgerChange]) -> SQL {
        """
        INSERT INTO ledgers (
            bucket, publisher, environment, subscription_key, bundle_id, heard_at, granted_at, granted_until,
            granted_offer, due_at, state, status, will_renew, expires_at, product_id, auto_renew_product_id, reason,
            transaction_id)
        SELECT i.bucket, i.publisher, i.environment, i.subscription_key, i.bundle_id, now(), i.granted_at, i.granted_until,
               i.granted_offer, i.due_at, i.state, i.status, i.will_renew, i.expires_at, i.product_id,
               i.auto_renew_product_id, i.reason, i.transaction_id
        FROM \(columns(ledgers), as: "i")
        ORDER BY i.bucket, i.publisher, i.environment, i.subscription_key
        """
    }

    private static func update(_ ledgers: [LedgerChange]) -> SQL {
        let moves: SQLTable = [
            "predecessors": .textArray(ledgers.map(\.predecessors)),
            "has_moved": .boolArray(ledgers.map { $0.ledger.movedTo != nil }),
            // While a question is open, the error of the last attempt stays.
            "in_doubt": .boolArray(ledgers.map { !$0.access.questions.isEmpty }),
            "stays_due": .boolArray(ledgers.map(\.staysDue)),
            "is_transfer": .boolArray(ledgers.map(\.found.isTransfer)),
        ]
        return """
            UPDATE ledgers l
            SET state = i.state, status = i.status, will_renew = i.will_renew, expires_at = i.expires_at,
                product_id = i.product_id, auto_renew_product_id = i.auto_renew_product_id, reason = i.reason,
                due_at = CASE WHEN l.parked_at IS NULL THEN
                             CASE WHEN i.stays_due THEN least(l.due_at, i.due_at) ELSE i.due_at END END,
                predecessors = i.predecessors, bundle_id = i.bundle_id, \(LedgerTransaction.grantAssignments("i", replacing: "i.is_transfer")),
                transaction_id = i.transaction_id, has_moved = i.has_moved,
                trouble = CASE WHEN l.parked_at IS NOT NULL OR i.in_doubt THEN l.trouble END
            FROM \(columns(ledgers) + moves, as: "i")
            WHERE \(.sameSubscription("l", "i"))
            """
    }

    private func events(_ ledgers: [LedgerChange]) -> SQL {
        let events: SQLTable = [
            "id": .uuidArray(ledgers.map { _ in UUID() }),
            "said_at": .timestamptzArray(ledgers.map { ($0.message.note?.saidAt ?? $0.found.now).postgres }),
            "expires_at": .timestamptzArray(ledgers.map { $0.shown?.expiresAt?.postgres }),
            "status": .int2Array(ledgers.map { $0.shown?.status.rawValue }),
            "event": .textArray(ledgers.map { $0.message.note?.event ?? $0.shown?.status.name ?? "unknown" }),
            "detail": .textArray(ledgers.map { $0.message.note?.detail?.bounded(300) }),
            "notification": .uuidArray(ledgers.map { $0.message.note?.notification.map(UUID.init(number:)) }),
        ]
        return """
            INSERT INTO subscription_events (
                bucket, accepted_on, id, recorded_at, said_at, expires_at, status, publisher, environment,
                subscription_key, event, detail, notification)
            SELECT i.bucket, (now() AT TIME ZONE 'UTC')::date, i.id, clock_timestamp(), i.said_at, i.expires_at, i.status,
                   i.publisher, i.environment, i.subscription_key, i.event, i.detail, i.notification
            FROM \(SQLTable.subscriptions(ledgers.map(\.message.name)) + events, as: "i")
            """
    }

    /// Moves the owner and its validation to the subscription's new id. Index used: primary keys.
    private static func move(from old: SubscriptionName, to name: SubscriptionName) -> SQL {
        """
        INSERT INTO subscriptions (
            bucket, publisher, environment, subscription_key, product_id, accepted_at, owned_since, expires_at,
            validation_bucket, \(OwnerStatements.columns))
        SELECT \(.int2(Int16(name.bucket.number))), s.publisher, s.environment, \(.text(name.originalTransactionID)),
               s.product_id, s.accepted_at, s.owned_since, s.expires_at, coalesce(s.validation_bucket, s.bucket),
               \(OwnerStatements.columns(of: "s"))
        FROM subscriptions s
        WHERE \(old.isKey(of: "s"))
        ON CONFLICT (bucket, publisher, environment, subscription_key) DO UPDATE SET
            previous_username = subscriptions.application_username, \(OwnerStatements.setting(from: "excluded")),
            product_id = excluded.product_id, accepted_at = excluded.accepted_at, owned_since = excluded.owned_since,
            expires_at = excluded.expires_at, validation_bucket = excluded.validation_bucket
        WHERE subscriptions.id IS NULL AND excluded.id IS NOT NULL
        """
    }

    /// Writes the present product's offer to the owner's row, where questions to Cleeng read it. Index used: the
    /// primary key.
    private static func write(presentOffers changed: [(name: SubscriptionName, offer: OfferID)]) -> [SQL] {
        guard !changed.isEmpty else { return [] }
        let offers: SQLTable = ["offer_id": .textArray(changed.map(\.offer))]
        return [
            """
            UPDATE subscriptions s
            SET offer_id = i.offer_id
            FROM \(SQLTable.subscriptions(changed.map(\.name)) + offers, as: "i")
            WHERE \(.sameSubscription("s", "i")) AND s.id IS NOT NULL
            """
        ]
    }
}

extension LedgerChange {
    /// Former ids with their grants, for look-ups: `BUCKET:ID`, separated by spaces. Nil if there are none.
    fileprivate var predecessors: String? {
        guard !ledger.movedFrom.isEmpty else { return nil }
        return ledger.movedFrom.sorted().map { old -> String in
            "\(message.name.under(old).bucket.number):\(old)"
        }.joined(separator: " ")
    }
}
