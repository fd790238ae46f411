import Foundation
import Postgres
import RelayCore

/// One transaction's worth of ``PursuitWrite``s, in two trips to the server: with the first everything is locked and the owners are read,
/// with the second everything is written and committed.
struct Settlement: Sendable {
    let transaction: PostgresTransaction
    let instance: String
    let catalogue: OfferCatalogue
    /// The stores that are asked after a grant.
    let acknowledged: Set<StorePlatform>
    /// Nil makes the ledgers of grants due at once.
    let listener: (any GrantListener)?

    struct Result: Sendable {
        var outcomes: [PursuitWriteOutcome]
        var changed: [Validation] = []
        /// Whose purchases changed.
        var customers: [CustomerName] = []
        /// The subscriptions that something was granted on, and whose ledgers have not heard of it.
        var unheard: [SubscriptionName] = []
        /// A store has to be told of a grant.
        var asksStores = false
    }

    func run(_ writes: [PursuitWrite]) async throws -> Result {
        let grants = writes.indices.filter { writes[$0].change?.status == .granted }
        var first = [hold(writes)]
        if !grants.isEmpty {
            let grants = grants.map { writes[$0] }
            first += [Ownership.open(grants), known(grants)]
        }
        let answers = try await transaction.pipeline(first)

        let known = answers.count > 2 ? try ledgers(answers[2]) : [:]
        var outcomes = [PursuitWriteOutcome](repeating: .leaseLost, count: writes.count)
        var held: [(index: Int, grant: Ownership.Grant, row: PostgresRow, ledger: GrantedLedger?)] = []
        for row in answers[0] {
            let index = try row.get("ordinal", as: Int.self) - 1
            guard try writes[index].change == nil || row.get("is_as_named", as: Bool.self) else {
                throw StoreError.missingRow("a validation in the state that its pursuit names")
            }
            outcomes[index] = .written
            if writes[index].change?.status == .granted {
                let ledger = try ledger(of: writes[index], row, known)
                let grant = Ownership.Grant(
                    write: writes[index], username: try row.open("username"), reasonToEnd: ledger?.reasonToEnd)
                held.append((index, grant, row, ledger))
            }
        }
        var ownership = Ownership.Judgement()
        var granted: [ValidationID: Granted] = [:]
        if answers.count > 1 {
            ownership = try Ownership.judge(held.map(\.grant), opened: answers[1])
            let grants = Dictionary(grouping: held, by: \.grant.name)
            for (one, verdict) in zip(held, ownership.verdicts) {
                let id = one.grant.write.claimed.id
                let (name, bundleID) = (one.grant.name, try one.row.get("bundle_id", as: BundleID?.self))
                switch verdict {
                case .granted(let subscription, let ownerNo):
                    let isFirst =
                        known[name] == nil && ownership.makers.contains(id) && grants[name]?.count == 1
                    granted[id] = Granted(
                        subscription: subscription, ownerNo: ownerNo, bundleID: bundleID,
                        productID: try one.row.get("product_id"),
                        first: isFirst ? try firstGrant(one.grant, one.ledger, one.row) : nil)
                case .revoked(let reason):
                    outcomes[one.index] = .writtenRevoked(reason: reason)
                    granted[id] = Granted(subscription: name, bundleID: bundleID)
                case .readTooOld: outcomes[one.index] = .readTooOld
                case .ownerInDoubt(let rival): outcomes[one.index] = .ownerInDoubt(rival)
                }
            }
        }
        let settled = writes.indices.filter { outcomes[$0].isWritten }.map { writes[$0].with(outcomes[$0]) }
        guard !settled.isEmpty else { return Result(outcomes: outcomes) }
        let (changed, unheard) = try await write(settled, ownership, granted, known: Set(known.keys))
        return Result(
            outcomes: outcomes, changed: changed, customers: ownership.changes.map(\.customer), unheard: unheard,
            asksStores: granted.values.contains { $0.wants(acknowledged) })
    }

    private var leeway: Duration { listener?.leeway ?? Self.standardLeeway }

    /// Where nobody hears grants, as ``RELAY_APPLE_RENEWAL_LEEWAY_SECONDS`` has it unless it is set.
    private static let standardLeeway = Duration.seconds(3_600)

    /// The ledgers of the subscriptions that something is granted on. They are locked behind the owners' rows, in the order of their keys, as
    /// everywhere. Index used: the primary key.
    private func known(_ grants: [PursuitWrite]) -> SQL {
        let names = Set(grants.map(\.claimed.name)).sorted { $0.order < $1.order }
        return """
            SELECT l.publisher, l.environment, l.subscription_key, \(StoredLedger.columns)
            FROM (SELECT * FROM \(SQLTable.subscriptions(names), as: "i", ordinal: "ordinal") ORDER BY i.ordinal) AS i
            CROSS JOIN LATERAL (
                SELECT * FROM ledgers l WHERE \(.sameSubscription("l", "i")) OFFSET 0 FOR NO KEY UPDATE) AS l
            """
    }

    /// A ledger that this version cannot read is an inner nil: it stops no grant. Its hearing reports it.
    private func ledgers(_ rows: PostgresRows) throws -> [SubscriptionName: SubscriptionLedger?] {
        var ledgers: [SubscriptionName: SubscriptionLedger?] = [:]
        for row in rows {
            ledgers.updateValue(try? StoredLedger.read(row, ownerNo: nil), forKey: try row.subscriptionName())
        }
        return ledgers
    }

    /// - Parameter row: from ``hold(_:)``.
    /// - Returns: nil where the ledger or the receipt's period cannot be read.
    private func ledger(
        of write: PursuitWrite, _ row: PostgresRow, _ known: [SubscriptionName: SubscriptionLedger?]
    ) throws -> GrantedLedger? {
        guard let change = write.change, let ledger = known[write.claimed.name] ?? SubscriptionLedger() else {
            return nil
        }
        let period: LedgerPeriod?
        do { period = try LedgerPeriod(stored: row.get("period")) } catch is StoreError { return nil }
        return GrantedLedger(
            change, of: write.claimed, in: ledger, bundleID: try row.get("bundle_id"), period: period,
            now: try row.timestamp("now"), catalogue: catalogue, leeway: leeway)
    }

    /// - Parameters:
    ///   - grant: the only one of its subscription, whose row it made, and of which nothing was known.
    ///   - row: from ``hold(_:)``.
    private func firstGrant(_ grant: Ownership.Grant, _ ledger: GrantedLedger?, _ row: PostgresRow) throws
        -> FirstGrant?
    {
        guard let listener, let ledger, let change = grant.write.change, try !row.get("has_contract", as: Bool.self)
        else { return nil }
        return FirstGrant(change, ledger, of: grant.write.claimed, listener: listener)
    }

    /// What is held, and whether the validation is in the state that the pursuit names. While the pursuit is locked nobody else
    /// changes that. With it what a ledger begins with. Index used: `contract_subscriptions_key`.
    private func hold(_ writes: [PursuitWrite]) -> SQL {
        let named: SQLTable = [
            "day": .int4Array(writes.map { Int32($0.claimed.id.day) }),
            "status": .int2Array(writes.map(\.claimed.pursuit.status.rawValue)),
        ]
        return """
            WITH ours AS MATERIALIZED (\(PurchaseStore.ours(writes.map(\.claim))))
            SELECT o.ordinal, coalesce(v.status = i.status, false) AS is_as_named,
                   ROW(v.sealed_by, v.application_username) AS username, v.bundle_id, v.product_id, v.period, clock_timestamp() AS now,
                   (SELECT true FROM contract_subscriptions c WHERE c.subscription_key = v.subscription_key LIMIT 1)
                       IS NOT NULL AS has_contract
            FROM ours o
            JOIN \(named, as: "i", ordinal: "ordinal") ON i.ordinal = o.ordinal
            LEFT JOIN LATERAL (
                SELECT v.status, v.sealed_by, v.application_username, v.bundle_id, v.product_id, v.period, v.subscription_key
                FROM validations v
                WHERE v.bucket = o.bucket AND v.accepted_on = DATE 'epoch' + i.day AND v.id = o.id
                OFFSET 0) AS v ON true
            """
    }

    /// On what, and under which of its owners, something was granted, or would have been.
    private struct Granted: Sendable {
        var subscription: SubscriptionName
        /// Nil where it opens nothing.
        var ownerNo: Int32?
        var bundleID: BundleID?
        var productID: ProductID?
        /// Nil where the ledger has to hear of it.
        var first: FirstGrant?

        func wants(_ acknowledged: Set<StorePlatform>) -> Bool {
            ownerNo != nil && !subscription.standsAlone
                && acknowledged.contains(StorePlatform(subscriptionKey: subscription.originalTransactionID))
        }
    }

    private func write(
        _ writes: [PursuitWrite], _ ownership: Ownership.Judgement, _ granted: [ValidationID: Granted],
        known: Set<SubscriptionName>
    ) async throws -> (changed: [Validation], unheard: [SubscriptionName]) {
        let transfers = ownership.moved
        let changes = writes.compactMap { write in write.change.map { (write: write, change: $0) } }
        let finished = writes.filter { $0.next == .finished }
        let resting = writes.filter { $0.next != .finished }
        // What was granted to the owner before ends first, then the owner changes, then it is granted to the new one: the foreign key of
        // `owner_no` is looked at after each statement.
        var queries = transfers.isEmpty ? [] : TransferStatements.queries(transfers, instance: instance)
        let ended = queries.count - 1
        queries += ownership.queries
        let settled = queries.count
        queries += [
            change(changes, granted), TimelineStatement.insert(writes, instance: instance),
            Self.purchases(of: changes.map(\.write.claimed.id), become: changes.map(\.change.status)),
        ]
        if !finished.isEmpty { queries.append(finish(finished)) }
        let unchanged = finished.filter { $0.change == nil }
        if !unchanged.isEmpty { queries.append(keep(unchanged)) }
        if !resting.isEmpty { queries.append(rest(resting)) }
        let ledgers = writes.compactMap { write in
            granted[write.claimed.id].map { (write: write, granted: $0) }
        }
        let watched = queries.count
        let (old, new) = (
            ledgers.filter { known.contains($0.granted.subscription) },
            ledgers.filter { !known.contains($0.granted.subscription) }
        )
        if !old.isEmpty { queries.append(watch(old, areKnown: true)) }
        if !new.isEmpty { queries.append(watch(new, areKnown: false)) }
        let lastWatched = queries.count
        if !ownership.changes.isEmpty { queries.append(CustomerChange.write(ownership.changes)) }

        queries += ledgers.map(\.granted).filter { $0.wants(acknowledged) }
            .sorted { $0.subscription.order < $1.subscription.order }
            .map {
                QuestionStore.ask(afterGrantOn: $0.subscription, bundleID: $0.bundleID, productID: $0.productID)
            }
        // Word of a refund may be lost, whoever acknowledges the purchase.
        queries += QuestionStore.sweep(ledgers.map { (name: $0.granted.subscription, app: $0.granted.bundleID) })

        let answers = try await transaction.commit(with: queries)
        let ends = transfers.isEmpty ? [] : try answers[ended].map(PurchaseStore.stored)
        let unheard = try answers[watched..<lastWatched].flatMap { try $0.map { try $0.subscriptionName() } }
        return (try answers[settled].map(PurchaseStore.stored) + ends, unheard)
    }

    /// What was decided before the deadline and is written after it is late: apps have been told so by then.
    private func change(
        _ changes: [(write: PursuitWrite, change: Decision.Change)], _ granted: [ValidationID: Granted]
    ) -> SQL {
        let owners = changes.map { granted[$0.write.claimed.id] }
        let alone = owners.map { $0?.subscription.standsAlone == true ? $0?.subscription.originalTransactionID : nil }
        let states: SQLTable = [
            "from_status": .int2Array(changes.map(\.write.claimed.pursuit.status.rawValue)),
            "status": .int2Array(changes.map(\.change.status.rawValue)),
            "reason": .textArray(changes.map { $0.change.reason?.bounded(300) }),
            "late": .boolArray(changes.map(\.change.late)),
            "settled_at": .timestamptzArray(changes.map(\.change.at.postgres)),
            "expires_at": .timestamptzArray(
                zip(changes, owners).map { ($1?.first?.expiresAt ?? $0.change.expiresAt)?.postgres }),
            "evidence": .textArray(changes.map(\.change.evidence)),
        ]
        let rest: SQLTable = [
            "forwards": .int4Array(changes.map { Int32(clamping: $0.write.pursuit.forwards) }),
            "entitled_before": .boolArray(changes.map(\.write.pursuit.entitledBefore)),
            "owner_no": .int4Array(owners.map { $0?.ownerNo }), "alone": .textArray(alone),
        ]
        let isDecision: SQL = "i.status IN \([ValidationStatus.granted, .rejected, .revoked])"
        return """
            UPDATE validations v
            SET status = i.status, reason = i.reason,
                late = i.late OR (\(isDecision) AND v.deadline <= clock_timestamp()),
                settled_at = CASE WHEN \(isDecision) AND i.settled_at < v.deadline AND v.deadline <= clock_timestamp()
                                  THEN clock_timestamp() ELSE i.settled_at END,
                expires_at = i.expires_at,
                evidence = coalesce(i.evidence, v.evidence), forwards = i.forwards, entitled_before = i.entitled_before,
                owner_no = i.owner_no, subscription_key = coalesce(i.alone, v.subscription_key),
                period = CASE WHEN i.alone IS NULL THEN v.period END
            FROM \(SQLTable.ids(changes.map(\.write.claimed.id)) + states + rest, as: "i")
            WHERE \(.sameID("v", "i")) AND v.status = i.from_status
            RETURNING \(Validation.columns)
            """
    }

    /// The purchase's row follows its validation, unless a fresh validation speaks for the purchase by now. Locked in the
    /// order in which the intake of repeats locks them. `OFFSET 0` leaves the planner the primary keys alone.
    static func purchases(of ids: [ValidationID], become statuses: [ValidationStatus]) -> SQL {
        let status: SQLTable = ["status": .int2Array(statuses.map(\.rawValue))]
        return """
            WITH held AS MATERIALIZED (
                SELECT p.bucket, p.key, i.status
                FROM (SELECT i.id, i.status, v.purchase_key
                      FROM \(SQLTable.ids(ids) + status, as: "i")
                      CROSS JOIN LATERAL (
                          SELECT v.purchase_key
                          FROM validations v
                          WHERE \(.sameID("v", "i"))
                          OFFSET 0) AS v
                      ORDER BY v.purchase_key) AS i
                CROSS JOIN LATERAL (
                    SELECT p.bucket, p.key, p.id
                    FROM purchases p
                    WHERE p.bucket = get_byte(i.purchase_key, 0) AND p.key = i.purchase_key
                    OFFSET 0 FOR NO KEY UPDATE) AS p
                WHERE p.id = i.id
            )
            UPDATE purchases p
            SET status = held.status
            FROM held
            WHERE p.bucket = held.bucket AND p.key = held.key
            """
    }

    private func finish(_ writes: [PursuitWrite]) -> SQL {
        let keys: SQLTable = [
            "bucket": .int2Array(writes.map { Int16($0.claimed.id.bucket.number) }),
            "id": .uuidArray(writes.map(\.claimed.id.uuid)),
        ]
        return "DELETE FROM pursuits p USING \(keys, as: "i") WHERE p.bucket = i.bucket AND p.id = i.id"
    }

    /// Where nothing changed at the end, what the pursuit alone still knew would go with it.
    private func keep(_ writes: [PursuitWrite]) -> SQL {
        let states: SQLTable = [
            "forwards": .int4Array(writes.map { Int32(clamping: $0.pursuit.forwards) }),
            "entitled_before": .boolArray(writes.map(\.pursuit.entitledBefore)),
        ]
        return """
            UPDATE validations v
            SET forwards = i.forwards, entitled_before = i.entitled_before
            FROM \(SQLTable.ids(writes.map(\.claimed.id)) + states, as: "i")
            WHERE \(.sameID("v", "i"))
            """
    }

    private func rest(_ writes: [PursuitWrite]) -> SQL {
        let status: SQLTable = ["status": .int2Array(writes.map(\.pursuit.status.rawValue))]
        return """
            UPDATE pursuits p
            SET \(PurchaseStore.resting), status = i.status
            FROM \(SQLTable.resting(writes) + status, as: "i")
            WHERE p.bucket = i.bucket AND p.id = i.id AND p.fence = i.fence
            """
    }

    /// Every grant has a ledger, and every ledger of a grant is due at some time. A first grant's ledger is complete. Any other is due soon.
    /// Rows are locked in the order of their keys, as everywhere. The owners' rows are held already.
    ///
    /// - Parameter areKnown: their ledgers were read and locked. Of the others none was there. If another transaction has inserted one meanwhile,
    ///   the insert fails by the primary key, and the settlement runs again: that transaction may know of a refund.
    /// - Returns: a statement that answers with those which have to hear of their grants.
    private func watch(_ grants: [(write: PursuitWrite, granted: Granted)], areKnown: Bool) -> SQL {
        let changes = grants.map(\.write.change)
        let first = grants.map(\.granted.first?.heard)
        let rows: SQLTable = [
            "at": .timestamptzArray(changes.map { $0?.rankedAt.postgres }),
            "until": .timestamptzArray(changes.map { $0?.grantedUntil?.postgres }),
            "offer_id": .textArray(grants.map(\.write.claimed.offerID)),
            "bundle_id": .textArray(grants.map(\.granted.bundleID)),
            "event_id": .uuidArray(grants.map { _ in UUID() }),
            "event": .textArray(first.map { $0?.shown?.status.name }),
            "said_at": .timestamptzArray(first.map { $0?.now.postgres }),
        ]
        let table = SQLTable.subscriptions(grants.map(\.granted.subscription)) + LedgerHearing.columns(first) + rows
        let due: SQL = "now() + \(listener == nil ? .zero : Self.hearing)"
        let ifKnown: SQL = """
            ON CONFLICT (bucket, publisher, environment, subscription_key) DO UPDATE SET
                granted_until = CASE WHEN l.granted_at > excluded.granted_at THEN l.granted_until ELSE excluded.granted_until END,
                granted_offer = CASE WHEN l.granted_at > excluded.granted_at THEN l.granted_offer ELSE excluded.granted_offer END,
                granted_at = greatest(l.granted_at, excluded.granted_at),
                due_at = CASE WHEN l.parked_at IS NULL THEN least(l.due_at, \(due)) END
            """
        return """
            WITH input AS MATERIALIZED (
                SELECT DISTINCT ON (i.bucket, i.publisher, i.environment, i.subscription_key) i.*
                FROM \(table, as: "i")
                ORDER BY i.bucket, i.publisher, i.environment, i.subscription_key, i.at DESC
            ), watched AS (
                INSERT INTO ledgers AS l (
                    bucket, publisher, environment, subscription_key, bundle_id, heard_at, granted_at, granted_until,
                    granted_offer, due_at, state, status, will_renew, expires_at, product_id, auto_renew_product_id, reason,
                    transaction_id)
                SELECT i.bucket, i.publisher, i.environment, i.subscription_key, i.bundle_id, now(), i.at, i.until,
                       i.offer_id, coalesce(i.due_at, \(due)), i.state, i.status, i.will_renew, i.expires_at, i.product_id,
                       i.auto_renew_product_id, i.reason, i.transaction_id
                FROM input i
                ORDER BY i.bucket, i.publisher, i.environment, i.subscription_key
                \(areKnown ? ifKnown : "")
                -- A row that is made here has no `xmax`.
                RETURNING l.bucket, l.publisher, l.environment, l.subscription_key, l.xmax = 0 AND l.state IS NOT NULL AS has_heard
            ), noted AS (
                INSERT INTO subscription_events (
                    bucket, accepted_on, id, recorded_at, said_at, expires_at, status, publisher, environment,
                    subscription_key, event)
                SELECT i.bucket, (now() AT TIME ZONE 'UTC')::date, i.event_id, clock_timestamp(), i.said_at, i.expires_at,
                       i.status, i.publisher, i.environment, i.subscription_key, i.event
                FROM input i
                JOIN watched w ON \(.sameSubscription("w", "i"))
                WHERE w.has_heard
            )
            SELECT w.publisher, w.environment, w.subscription_key FROM watched w WHERE NOT w.has_heard
            """
    }

    /// Until a ledger is due that the listener should have heard by then.
    private static let hearing = Duration.seconds(10)

    /// The ids of validations, for statements that take them by number: buckets, days, ids.
    static func keys(_ ids: [ValidationID]) -> [PostgresValue] { SQLTable.ids(ids).columns.map(\.value) }
}

extension PurchaseStore {
    /// Writes changes of status, with everything that follows from them, in one transaction: the validation, its pursuit, its
    /// timeline, the purchase it stands for, the subscription's owner, the old owner's end, and word to both publishers'
    /// customers.
    ///
    /// - Parameter listener: see ``Settlement/listener``.
    func settle(_ writes: [PursuitWrite], listener: (any GrantListener)?) async throws -> Settlement.Result {
        let result = try await database.retryingDeadlock {
            try await database.withTransaction { transaction in
                try await Settlement(
                    transaction: transaction, instance: memory.instance, catalogue: memory.catalogue,
                    acknowledged: memory.acknowledged, listener: listener
                ).run(writes)
            }
        }
        relay.publish(result.changed, customers: result.customers)
        if result.asksStores { database.afterCommit { memory.onQuestionsAsked() } }
        return result
    }
}
