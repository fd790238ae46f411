import Foundation
import Postgres
import RelayCore

/// A batch of ``PursuitWrite``s in one transaction with two round trips, or three if more of a ledger must be read
/// (``GrantedLedgers/readKnown(_:in:)``). The first locks all rows and reads the owners and the ledgers; the last writes
/// everything and commits.
struct Settlement: Sendable {
    let transaction: PostgresTransaction
    let memory: StoreMemory

    struct Result: Sendable {
        var outcomes: [PursuitWriteOutcome]
        var changed: [Validation] = []
        /// What follows from the grants.
        var closing = LedgerTransaction.Closing()
    }

    /// A grant under a valid lease.
    struct Held {
        var index: Int
        var grant: Ownership.Grant
        var productID: ProductID?
        /// See ``LedgerChange/contradictsStore``.
        var contradictsStore: Bool
    }

    /// What is written of a grant, including one that a revocation prevented.
    struct Granted {
        var held: Held
        var name: SubscriptionName
        /// Nil if the grant gives no access.
        var ownerNo: Int32?
        /// End of access by the ledger; nil if only Cleeng names one.
        var expiresAt: Timestamp?

        /// - Parameter acknowledged: stores that require an acknowledgement of each grant.
        func asksStore(_ acknowledged: Set<StorePlatform>) -> Bool {
            ownerNo != nil && !name.standsAlone
                && (acknowledged.contains(name.platform)
                    || (held.contradictsStore && StorePlatform.asked.contains(name.platform)))
        }
    }

    func run(_ writes: [PursuitWrite]) async throws -> Result {
        let grants = writes.filter { $0.change?.status == .granted }
        let names = Set(grants.map(\.claimed.name)).sorted { $0.order < $1.order }
        let opening = grants.isEmpty ? [] : [Ownership.open(grants)] + GrantedLedgers.open(names, memory.participants)
        let answers = try await transaction.pipeline([hold(writes)] + opening)
        var result = Result(outcomes: [PursuitWriteOutcome](repeating: .leaseLost, count: writes.count))
        var ledgers = GrantedLedgers(memory: memory)
        var opened: [SubscriptionName: Ownership.Subscription] = [:]
        if !grants.isEmpty, let row = answers[0].first {
            let held = try answers[0].map { writes[try $0.get("ordinal", as: Int.self) - 1] }
            let granting = held.filter { $0.change?.status == .granted }.map(\.claimed.id)
            opened = try Ownership.subscriptions(answers[1], of: Set(granting))
            ledgers = try GrantedLedgers(names, answers[2...], at: try row.timestamp("now"), memory: memory)
            try await ledgers.readKnown(opened.filter { $0.value.insertedBy == nil }.keys, in: transaction)
        }
        var held: [Held] = []
        for row in answers[0] {
            let index = try row.get("ordinal", as: Int.self) - 1
            guard try writes[index].change == nil || row.get("is_as_named", as: Bool.self) else {
                throw StoreError.missingRow("a validation in the state that its pursuit names")
            }
            result.outcomes[index] = .written
            guard let change = writes[index].change, change.status == .granted else { continue }
            held.append(try Self.hold(writes[index], change, at: index, row, &ledgers))
        }
        let ownership = try Self.decide(held, on: opened)
        var granted: [Granted] = []
        for (one, outcome) in zip(held, ownership.outcomes) {
            switch outcome {
            case .granted(let name, let ownerNo): granted.append(Granted(held: one, name: name, ownerNo: ownerNo))
            case .revoked(let reason):
                result.outcomes[one.index] = .writtenRevoked(reason: reason)
                granted.append(Granted(held: one, name: one.grant.name))
            case .readTooOld: result.outcomes[one.index] = .readTooOld
            case .ownerInDoubt(let owner): result.outcomes[one.index] = .ownerInDoubt(owner)
            }
        }
        let settled = writes.indices.filter { result.outcomes[$0].isWritten }
            .map { writes[$0].with(result.outcomes[$0]) }
        guard !settled.isEmpty else { return result }
        (result.changed, result.closing) = try await write(
            settled, ownership, &granted, ledgers.update(granted, opened: opened, ownership))
        return result
    }

    /// - Parameter row: row from ``hold(_:)``.
    private static func hold(
        _ write: PursuitWrite, _ change: Decision.Change, at index: Int, _ row: PostgresRow,
        _ ledgers: inout GrantedLedgers
    ) throws -> Held {
        var grant = Ownership.Grant(
            write, change, username: try row.open("username"), bundleID: try row.get("bundle_id"))
        grant.periods = ledgers.periods(row, of: grant.name)
        let ledger = ledgers.ledger(with: grant)
        grant.reasonToEnd = ledger?.reasonToEnd(grant.offerID)
        return Held(
            index: index, grant: grant, productID: try row.get("product_id"),
            contradictsStore: ledger?.contradictsStore ?? false)
    }

    private static func decide(
        _ held: [Held], on opened: [SubscriptionName: Ownership.Subscription]
    ) throws -> Ownership {
        do { return try Ownership(held.map(\.grant), on: opened) } catch {
            throw StoreError.missingRow("a subscription")
        }
    }

    private func write(
        _ writes: [PursuitWrite], _ ownership: Ownership, _ granted: inout [Granted], _ ledgers: GrantedLedgers.Update
    ) async throws -> (changed: [Validation], closing: LedgerTransaction.Closing) {
        let transfers = ownership.transfers
        let updated = ledgers.ledgers
        for index in granted.indices {
            granted[index].expiresAt = updated[granted[index].name]?.end(of: granted[index].held.grant.offerID)
        }
        let grants = Dictionary(uniqueKeysWithValues: granted.map { ($0.held.grant.id, $0) })
        let changes = writes.compactMap { write in write.change.map { (write: write, change: $0) } }
        let finished = writes.filter { $0.next == .finished }
        let resting = writes.filter { $0.next != .finished }
        // The old owner's grants end first, then the owner changes, then the new grant is written. The foreign key of
        // `owner_no` is checked after each statement.
        var queries = transfers.isEmpty ? [] : TransferStatements.queries(transfers, instance: memory.instance)
        var changed = transfers.isEmpty ? [] : [queries.count - 1]
        queries += ownership.queries
        changed.append(queries.count)
        queries += [
            change(changes, grants), TimelineStatement.insert(writes, instance: memory.instance),
            Self.purchases(of: changes.map(\.write.claimed.id), become: changes.map(\.change.status)),
        ]
        if !finished.isEmpty { queries.append(finish(finished)) }
        let unchanged = finished.filter { $0.change == nil }
        if !unchanged.isEmpty { queries.append(keep(unchanged)) }
        if !resting.isEmpty { queries.append(rest(resting)) }
        let fallen = writes.filter(\.fallsBack)
        if !fallen.isEmpty { queries.append(fallBack(fallen)) }

        var closing = ledgers.closing(ownership.changes)
        changed += closing.changes.map { $0 + queries.count }
        queries += closing.queries
        let asking = granted.filter { $0.asksStore(memory.acknowledged) }.sorted { $0.name.order < $1.name.order }
        queries += asking.map {
            QuestionStore.ask(afterGrantOn: $0.name, bundleID: $0.held.grant.bundleID, productID: $0.held.productID)
        }
        closing.asksStores = closing.asksStores || !asking.isEmpty
        // A refund's notification may be lost, whether or not the relay acknowledges the purchase.
        queries += QuestionStore.sweep(granted.map { (name: $0.name, app: $0.held.grant.bundleID) })

        let answers = try await transaction.commit(with: queries)
        // A ledger may end what was granted a moment before: its last state is the one that counts.
        var last: [ValidationID: Validation] = [:]
        for index in changed { for one in try answers[index].map(PurchaseStore.stored) { last[one.id] = one } }
        return (Array(last.values), closing)
    }
}

extension PurchaseStore {
    /// Writes changes of status with all their consequences in one transaction. They concern the validation, its
    /// pursuit and timeline, the purchase, the subscription's owner and ledger, the old owner's end, and the messages to
    /// both customers' publishers.
    func settle(_ writes: [PursuitWrite]) async throws -> [PursuitWriteOutcome] {
        try await relay.offers.ready()
        let result = try await database.retryingConflicts {
            try await database.withTransaction { transaction in
                try await Settlement(transaction: transaction, memory: memory).run(writes)
            }
        }
        relay.publish(result.changed, result.closing)
        return result.outcomes
    }
}
