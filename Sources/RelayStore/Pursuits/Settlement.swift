import Foundation
import Postgres
import RelayCore

/// A batch of ``PursuitWrite``s in one transaction with two round trips. The first locks all rows and reads the owners;
/// the second writes everything and commits.
struct Settlement: Sendable {
    let transaction: PostgresTransaction
    let instance: String
    let catalogue: OfferCatalogue
    /// Stores that require an acknowledgement of each grant.
    let acknowledged: Set<StorePlatform>
    /// Nil: the ledgers of grants are due at once.
    let listener: (any GrantListener)?

    struct Result: Sendable {
        var outcomes: [PursuitWriteOutcome]
        var changed: [Validation] = []
        /// Customers whose purchases changed.
        var customers: [CustomerName] = []
        /// Granted subscriptions whose ledgers do not have the grant yet.
        var outdated: [SubscriptionName] = []
        /// Whether a store must be asked to acknowledge a grant.
        var asksStores = false
    }

    func run(_ writes: [PursuitWrite]) async throws -> Result {
        let grants = writes.indices.filter { writes[$0].change?.status == .granted }
        var first = [hold(writes)]
        if !grants.isEmpty {
            let grants = grants.map { writes[$0] }
            first += [
                Ownership.open(grants), known(grants), LedgerUpdate.namesakes(of: grants.map(\.claimed.name)),
            ]
        }
        let answers = try await transaction.pipeline(first)
        let found = answers.count > 3 ? try LedgerUpdate.readNamesakes(answers[3]) : [:]
        let namesakes = Dictionary(uniqueKeysWithValues: found.map { (grants[$0.key], $0.value) })

        let known = answers.count > 2 ? try ledgers(answers[2]) : [:]
        var outcomes = [PursuitWriteOutcome](repeating: .leaseLost, count: writes.count)
        var held: [(index: Int, grant: Ownership.Grant, row: PostgresRow, ledger: GrantedLedger?)] = []
        for row in answers[0] {
            let index = try row.get("ordinal", as: Int.self) - 1
            guard try writes[index].change == nil || row.get("is_as_named", as: Bool.self) else {
                throw StoreError.missingRow("a validation in the state that its pursuit names")
            }
            outcomes[index] = .written
            if let change = writes[index].change, change.status == .granted {
                let ledger = try ledger(of: writes[index], row, known, namesakes: namesakes[index] ?? [])
                let grant = Ownership.Grant(
                    writes[index], change, username: try row.open("username"), reasonToEnd: ledger?.reasonToEnd)
                held.append((index, grant, row, ledger))
            }
        }
        var ownership = Ownership()
        var granted: [ValidationID: Granted] = [:]
        if answers.count > 1 {
            ownership = try Ownership(held.map(\.grant), opened: answers[1])
            let grants = Dictionary(grouping: held, by: \.grant.name)
            for (one, outcome) in zip(held, ownership.outcomes) {
                let (id, name) = (one.grant.id, one.grant.name)
                let bundleID = try one.row.get("bundle_id", as: BundleID?.self)
                switch outcome {
                case .granted(let subscription, let ownerNo):
                    let isFirst =
                        known[name] == nil && ownership.creators.contains(id) && grants[name]?.count == 1
                    granted[id] = Granted(
                        subscription: subscription, ownerNo: ownerNo, bundleID: bundleID,
                        productID: try one.row.get("product_id"),
                        first: isFirst ? try firstGrant(one.ledger, one.row) : nil,
                        contradictsStore: one.ledger?.contradictsStore ?? false)
                case .revoked(let reason):
                    outcomes[one.index] = .writtenRevoked(reason: reason)
                    granted[id] = Granted(subscription: name, bundleID: bundleID)
                case .readTooOld: outcomes[one.index] = .readTooOld
                case .ownerInDoubt(let owner): outcomes[one.index] = .ownerInDoubt(owner)
                }
            }
        }
        let settled = writes.indices.filter { outcomes[$0].isWritten }.map { writes[$0].with(outcomes[$0]) }
        guard !settled.isEmpty else { return Result(outcomes: outcomes) }
        let (changed, outdated) = try await write(settled, ownership, granted, known: Set(known.keys))
        return Result(
            outcomes: outcomes, changed: changed, customers: ownership.changes.map(\.customer), outdated: outdated,
            asksStores: granted.values.contains { $0.asksStore(acknowledged) })
    }

    /// Reads which claims are valid, and whether each validation has the status that its pursuit names. A locked
    /// pursuit prevents other changes of the validation. Also reads the data that a new ledger starts with. Index used:
    /// `contract_subscriptions_key`.
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

    private func write(
        _ writes: [PursuitWrite], _ ownership: Ownership, _ granted: [ValidationID: Granted],
        known: Set<SubscriptionName>
    ) async throws -> (changed: [Validation], outdated: [SubscriptionName]) {
        let transfers = ownership.transfers
        let changes = writes.compactMap { write in write.change.map { (write: write, change: $0) } }
        let finished = writes.filter { $0.next == .finished }
        let resting = writes.filter { $0.next != .finished }
        // The old owner's grants end first, then the owner changes, then the new grant is written. The foreign key of
        // `owner_no` is checked after each statement.
        var queries = transfers.isEmpty ? [] : TransferStatements.queries(transfers, instance: instance)
        let endedIndex = queries.count - 1
        queries += ownership.queries
        let changedIndex = queries.count
        queries += [
            change(changes, granted), TimelineStatement.insert(writes, instance: instance),
            Self.purchases(of: changes.map(\.write.claimed.id), become: changes.map(\.change.status)),
        ]
        if !finished.isEmpty { queries.append(finish(finished)) }
        let unchanged = finished.filter { $0.change == nil }
        if !unchanged.isEmpty { queries.append(keep(unchanged)) }
        if !resting.isEmpty { queries.append(rest(resting)) }
        let fallen = writes.filter(\.fallsBack)
        if !fallen.isEmpty { queries.append(fallBack(fallen)) }
        let ledgers = writes.compactMap { write in
            granted[write.claimed.id].map { (write: write, granted: $0) }
        }
        let firstLedger = queries.count
        let (old, new) = (
            ledgers.filter { known.contains($0.granted.subscription) },
            ledgers.filter { !known.contains($0.granted.subscription) }
        )
        if !old.isEmpty { queries.append(writeLedgers(of: old, areKnown: true)) }
        if !new.isEmpty { queries.append(writeLedgers(of: new, areKnown: false)) }
        let ledgerIndices = firstLedger..<queries.count
        if !ownership.changes.isEmpty { queries.append(CustomerChange.write(ownership.changes)) }

        queries += ledgers.map(\.granted).filter { $0.asksStore(acknowledged) }
            .sorted { $0.subscription.order < $1.subscription.order }
            .map {
                QuestionStore.ask(afterGrantOn: $0.subscription, bundleID: $0.bundleID, productID: $0.productID)
            }
        // A refund's notification may be lost, whether or not the relay acknowledges the purchase.
        queries += QuestionStore.sweep(ledgers.map { (name: $0.granted.subscription, app: $0.granted.bundleID) })

        let answers = try await transaction.commit(with: queries)
        let ends = transfers.isEmpty ? [] : try answers[endedIndex].map(PurchaseStore.stored)
        let outdated = try answers[ledgerIndices].flatMap { try $0.map { try $0.subscriptionName() } }
        return (try answers[changedIndex].map(PurchaseStore.stored) + ends, outdated)
    }

    /// A decision from before the deadline that is written after it is late, since apps have already read the timeout.
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

    /// Updates a purchase's row to its validation's status, unless a newer validation has replaced that one. Rows are
    /// locked in the order of the intake of repeats. `OFFSET 0` leaves the planner only the primary keys.
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

    /// Copies a finished pursuit's values to its validation if no change does. They would be lost with the pursuit.
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

    /// Changes the validation's driver: a version without the connector would send the purchase as an Apple receipt.
    private func fallBack(_ writes: [PursuitWrite]) -> SQL {
        let drivers: SQLTable = [
            "driver": .int2Array(writes.map { $0.claimed.pursuit.phase.connector?.driver.platform.driver.rawValue })
        ]
        return """
            UPDATE validations v
            SET driver = i.driver
            FROM \(SQLTable.ids(writes.map(\.claimed.id)) + drivers, as: "i")
            WHERE \(.sameID("v", "i"))
            """
    }
}

extension PurchaseStore {
    /// Writes changes of status with all their consequences in one transaction. They concern the validation, its
    /// pursuit and timeline, the purchase, the subscription's owner, the old owner's end, and the messages to both
    /// customers' publishers.
    ///
    /// - Parameter listener: see ``Settlement/listener``.
    func settle(_ writes: [PursuitWrite], listener: (any GrantListener)?) async throws -> Settlement.Result {
        try await relay.offers.ready()
        let result = try await database.retryingConflicts {
            try await database.withTransaction { transaction in
                try await Settlement(
                    transaction: transaction, instance: memory.instance, catalogue: memory.catalogue,
                    acknowledged: memory.acknowledged, listener: listener
                ).run(writes)
            }
        }
        relay.publish(result.changed, customers: result.customers)
        if result.asksStores { database.afterCommit { memory.signal(.questions) } }
        return result
    }
}
