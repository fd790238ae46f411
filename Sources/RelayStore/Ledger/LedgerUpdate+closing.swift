import Foundation
import Postgres
import RelayCore

extension LedgerUpdate {
    /// The final statements, and the positions of those that return changed validations.
    struct Closing {
        var queries: [SQL] = []
        var changes: [Int] = []
        /// Customers whose purchases changed.
        var customers: [CustomerName] = []
        /// Whether messages for endpoints were queued.
        var hasMessages = false
        /// Whether a store must be asked.
        var asksStores = false

        func changed(_ answers: [PostgresRows]) throws -> [Validation] {
            try changes.flatMap { try answers[$0].map(PurchaseStore.stored) }
        }
    }

    func closing(_ entries: [Entry]) -> Closing {
        var closing = Closing(queries: [ledgers(entries)])
        let noted = entries.filter { $0.message.note != nil || $0.hasNewStatus }
        if !noted.isEmpty { closing.queries.append(events(noted)) }
        closing.queries += moves(entries)
        let transfers = transfers(entries)
        if !transfers.isEmpty {
            closing.queries += TransferStatements.queries(transfers, instance: memory.instance)
            closing.changes.append(closing.queries.count - 1)
        }
        closing.queries += presentOffers(entries)
        let changes = customerChanges(entries)
        if !changes.isEmpty { closing.queries.append(CustomerChange.write(changes)) }
        closing.customers = changes.map(\.customer)
        let news = ContractNews.deliveries(entries)
        closing.queries += ContractNews.moves(entries) + DeliveryStatements.enqueue(news)
        closing.hasMessages = !news.isEmpty
        closing.queries.append(access(entries))
        closing.changes.append(closing.queries.count - 1)
        return closing
    }

    /// Transfers caused by moves, if the new id had an owner before the store reported the move from another owner's
    /// id. The newer owner keeps it, as after any other transfer.
    private func transfers(_ entries: [Entry]) -> [Ownership.Transfer] {
        entries.flatMap { new -> [Ownership.Transfer] in
            guard let owner = new.owner, let to = new.ownerValidation else { return [] }
            return entries.filter { old in
                new.message.word.movesFrom.contains(old.message.name.originalTransactionID)
            }.compactMap { old in
                guard let from = old.ownerValidation, let before = old.owner, before.customer != owner.customer else {
                    return nil
                }
                return Ownership.Transfer(
                    subscription: new.message.name, to: to, toCustomer: owner.customer, from: from,
                    fromCustomer: before.customer)
            }
        }
    }

    /// Changes for customers whose purchases changed, or whose subscription has a new id.
    private func customerChanges(_ entries: [Entry]) -> [CustomerChange] {
        func change(_ entry: Entry, _ username: Username, _ reason: CustomerChange.Reason) -> CustomerChange {
            CustomerChange(
                customer: CustomerName(publisher: entry.message.name.publisher, username: username), reason: reason,
                subscription: entry.message.name)
        }
        let moved = entries.filter { $0.owner == nil }.flatMap { new in
            entries.filter { new.message.word.movesFrom.contains($0.message.name.originalTransactionID) }
                .flatMap { old in
                    // A customer who had only claimed the new id by name loses it if the old id was granted to an
                    // owner.
                    [old.username, old.owner == nil ? nil : new.username].compactMap {
                        $0.map { change(new, $0, .other) }
                    }
                }
        }
        return moved
            + entries.compactMap { entry in
                // Publishers never see standalone subscriptions as purchases.
                guard let username = entry.username, !entry.message.name.standsAlone else { return nil }
                if entry.message.word.movesTo != nil { return change(entry, username, .other) }
                return entry.hasNews ? change(entry, username, entry.reason) : nil
            }
    }

    /// Columns of ledgers, except those that only a ledger update changes.
    ///
    /// - Parameter entries: nil for a ledger without statements.
    static func columns(_ entries: [Entry?]) -> SQLTable {
        let standings = entries.map { $0?.shown }
        let shown: SQLTable = [
            "status": .int2Array(standings.map { $0?.status.rawValue }),
            "will_renew": .boolArray(standings.map { $0?.willRenew }),
            "expires_at": .timestamptzArray(standings.map { $0?.expiresAt?.postgres }),
            "product_id": .textArray(standings.map { $0?.productID }),
            "auto_renew_product_id": .textArray(standings.map { $0?.autoRenewProductID }),
            "reason": .textArray(standings.map { $0?.reason }),
        ]
        let rest: SQLTable = [
            "state": .textArray(entries.map { $0.flatMap { LedgerJSON.text($0.ledger) } }),
            "due_at": .timestamptzArray(entries.map { $0?.dueAt?.postgres }),
            "transaction_id": .textArray(entries.map { $0?.newestTransaction }),
        ]
        return shown + rest
    }

    private func ledgers(_ entries: [Entry]) -> SQL {
        let moves: SQLTable = [
            "predecessors": .textArray(entries.map(\.predecessors)),
            "has_moved": .boolArray(entries.map { $0.ledger.movedTo != nil }),
            // The trouble of the last question stays until the present one is answered.
            "in_doubt": .boolArray(entries.map { !$0.access.questions.isEmpty }),
            "stays_due": .boolArray(entries.map(\.staysDue)),
        ]
        return """
            UPDATE ledgers l
            SET state = i.state, status = i.status, will_renew = i.will_renew, expires_at = i.expires_at,
                product_id = i.product_id, auto_renew_product_id = i.auto_renew_product_id, reason = i.reason,
                due_at = CASE WHEN l.parked_at IS NULL THEN
                             CASE WHEN i.stays_due THEN least(l.due_at, i.due_at) ELSE i.due_at END END,
                predecessors = i.predecessors,
                transaction_id = i.transaction_id, has_moved = i.has_moved,
                trouble = CASE WHEN l.parked_at IS NOT NULL OR i.in_doubt THEN l.trouble END
            FROM \(SQLTable.subscriptions(entries.map(\.message.name)) + Self.columns(entries) + moves, as: "i")
            WHERE \(.sameSubscription("l", "i"))
            """
    }

    private func events(_ entries: [Entry]) -> SQL {
        let events: SQLTable = [
            "id": .uuidArray(entries.map { _ in UUID() }),
            "said_at": .timestamptzArray(entries.map { ($0.message.note?.saidAt ?? $0.now).postgres }),
            "expires_at": .timestamptzArray(entries.map { $0.shown?.expiresAt?.postgres }),
            "status": .int2Array(entries.map { $0.shown?.status.rawValue }),
            "event": .textArray(entries.map { $0.message.note?.event ?? $0.shown?.status.name ?? "unknown" }),
            "detail": .textArray(entries.map { $0.message.note?.detail?.bounded(300) }),
            "notification": .uuidArray(entries.map { $0.message.note?.notification }),
        ]
        return """
            INSERT INTO subscription_events (
                bucket, accepted_on, id, recorded_at, said_at, expires_at, status, publisher, environment,
                subscription_key, event, detail, notification)
            SELECT i.bucket, (now() AT TIME ZONE 'UTC')::date, i.id, clock_timestamp(), i.said_at, i.expires_at, i.status,
                   i.publisher, i.environment, i.subscription_key, i.event, i.detail, i.notification
            FROM \(SQLTable.subscriptions(entries.map(\.message.name)) + events, as: "i")
            """
    }

    /// Moves owners to new ids that have none.
    private func moves(_ entries: [Entry]) -> [SQL] {
        entries.filter { $0.owner == nil && !$0.message.word.movesFrom.isEmpty }.flatMap { new in
            let name = new.message.name
            return new.message.word.movesFrom.sorted().map { Self.move(to: name, from: name.under($0)) }
        }
    }

    /// Moves the owner and its validation to the subscription's new id. Index used: primary keys.
    private static func move(to name: SubscriptionName, from old: SubscriptionName) -> SQL {
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

    /// Writes the present product's offer to the owner's row, since questions to Cleeng use it. Index used: the primary
    /// key.
    private func presentOffers(_ entries: [Entry]) -> [SQL] {
        let changed = entries.compactMap { entry in
            entry.access.present.flatMap { offer -> (name: SubscriptionName, offer: OfferID)? in
                entry.owner.map { $0.offerID == offer } == false ? (entry.message.name, offer) : nil
            }
        }
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

extension LedgerUpdate.Entry {
    /// Former ids with their grants, for look-ups: `BUCKET:ID`, separated by spaces. Nil if there are none.
    fileprivate var predecessors: String? {
        guard !ledger.movedFrom.isEmpty else { return nil }
        return ledger.movedFrom.sorted().map { old -> String in
            "\(message.name.under(old).bucket.number):\(old)"
        }.joined(separator: " ")
    }

    /// Id of the newest transaction; nil if it is the subscription's own id.
    fileprivate var newestTransaction: TransactionID? {
        let newest = ledger.periods.values.max { ($0.purchasedAt, $0.id) < ($1.purchasedAt, $1.id) }?.transactionID
        return newest == message.name.originalTransactionID ? nil : newest
    }

    /// When the subscription must be evaluated again; nil if it moved, since its new id is then evaluated.
    var dueAt: Timestamp? {
        guard ledger.movedTo == nil else { return nil }
        // An overdue recheck happens now. The pause prevents constant retries if the store cannot be asked.
        let again = recheckAt.map { $0 > now ? $0 : now + min(recheck, Self.overduePause) }
        guard let next = access.nextLookAt ?? untoldLookAt else { return again }
        let due = next > now ? next : now + (asks ? LedgerUpdate.asking : LedgerUpdate.settling)
        return again.map { min($0, due) } ?? due
    }

    /// Whether a due question keeps its due time. Only the process that asks may postpone it, or new statements of the
    /// store.
    fileprivate var staysDue: Bool {
        guard !asks, let next = access.nextLookAt ?? untoldLookAt, next <= now else { return false }
        let old = before.ledger
        return old.periods == ledger.periods && old.renewal == ledger.renewal && old.end == ledger.end
    }

    /// Stores other than Apple's report nothing by themselves. Until such a store has answered, it is asked daily.
    private var untoldLookAt: Timestamp? {
        guard platform != .apple, !hasRenewalInfo, standing?.status == .active else { return nil }
        return now + Self.untoldPause
    }

    /// When to ask a store again that does not list revoked purchases, since its notification may have been lost.
    var recheckAt: Timestamp? {
        // A late payment restores access, and its notification may be lost too.
        guard !platform.listsVoided, !message.name.standsAlone, hasRenewalInfo, let status = standing?.status,
            status.grantsAccess || status == .inBillingRetry
        else { return nil }
        let statements = ledger.periods.values.map(\.statedAt) + (ledger.renewal.map { [$0.statedAt] } ?? [])
        return statements.max().map { $0 + recheck }
    }

    private var platform: StorePlatform { StorePlatform(subscriptionKey: message.name.originalTransactionID) }

    private static let untoldPause = Duration.seconds(86_400)
    private static let overduePause = Duration.seconds(3_600)
}

extension LedgerUpdate.Entry {
    /// The reason in the publisher's webhooks.
    fileprivate var reason: CustomerChange.Reason {
        switch shown?.status {
        case .revoked: shown?.reason == "family_revoked" ? .revoked : .refunded
        case .expired, .inBillingRetry: .expired
        case .inGrace: .enteredGracePeriod
        case .active where before.status == nil: shown?.willRenew == false ? .willLapse : .other
        case .active where hasNewStatus || (before.expiresAt != nil && before.expiresAt != shown?.expiresAt): .renewed
        case .active
        where before.willRenew != shown?.willRenew && (before.willRenew != nil || shown?.willRenew == false):
            shown?.willRenew == false ? .willLapse : .willAutoRenew
        case .active where before.ledger.renewal?.priceConsent == 0 && ledger.renewal?.priceConsent == 1:
            .priceChangeConfirmed
        case .active, nil: .other
        }
    }
}
