import Postgres
import Relay
import RelayCore

/// Result of a commit.
enum CommitOutcome: Sendable, Equatable {
    case contract(BillingContract)
    /// The subscription has a contract through another order.
    case conflict
    case unknownOrder
}

/// A commit is one transaction, which locks the external subscription first. Of two concurrent commits for a
/// subscription, the later one sees what the first wrote.
///
///     lock the subscription ─► its contract, the order's state ─► the ledger records the store's statement
///         ─► contract, its subscription, the order's state, messages; COMMIT
extension OrderStore {
    private static let mostTries = 5
    /// Conflicts with concurrent transactions, which a retry resolves: unique violations, deadlocks, serialization
    /// failures.
    private static let races: [String?] = ["23505", "40P01", "40001"]

    /// Creates the contract of an order, or adds its subscription to the contract that the order names.
    ///
    func commit(_ id: BillingID, publisher: PublisherID) async throws -> CommitOutcome {
        guard let order = try await order(id, publisher: publisher) else { return .unknownOrder }
        try await relay.offers.ready()
        guard let (verdict, changed, closing) = try await tryToCommit(order, publisher: publisher)
        else {
            return .unknownOrder
        }
        relay.publish(changed, closing)
        guard verdict != .conflicts else { return .conflict }
        guard let contract = try await contract(order.contract, publisher: publisher) else {
            throw StoreError.unreadable(column: "contract")
        }
        return .contract(contract)
    }

    private typealias Committed = (CommitVerdict, [Validation], LedgerTransaction.Closing)

    /// Nil if the order was removed meanwhile.
    private func tryToCommit(
        _ order: BillingOrder, publisher: PublisherID
    ) async throws -> Committed? {
        var triesLeft = Self.mostTries
        while true {
            triesLeft -= 1
            do {
                return try await database.withTransaction { transaction in
                    try await commit(order, publisher: publisher, in: transaction)
                }
            } catch let error as PostgresError where triesLeft > 0 && Self.races.contains(error.sqlState) {
                continue
            }
        }
    }

    private func commit(
        _ order: BillingOrder, publisher: PublisherID, in transaction: PostgresTransaction
    ) async throws -> Committed? {
        let subscription = order.externalSubscription
        // Index used: primary keys. The order's row is locked too, so that it is not removed as an abandoned one.
        let found = try await transaction.pipeline([
            """
            SELECT e.publisher, e.environment, e.subscription_key, e.bundle_id, e.word
            FROM external_subscriptions e
            WHERE (e.bucket, e.id) = (\(subscription.key))
            FOR UPDATE
            """,
            "SELECT o.state FROM orders o WHERE (o.bucket, o.id) = (\(order.id.key)) FOR UPDATE",
            """
            SELECT c.contract FROM contract_subscriptions c
            WHERE (c.bucket, c.external_subscription) = (\(subscription.key))
            """,
            ContractStatements.endpoints(of: publisher),
        ])
        guard let row = found[0].first, let present = found[1].first else { return nil }
        let owner = try found[2].first?.billingID("contract")
        let verdict = CommitVerdict(try present.constant("state"), subscriptionIsOf: owner)
        guard verdict == .completes else { return (verdict, [], .nothing) }

        let name = try row.subscriptionName()
        let message = LedgerMessage(
            name, try row.checkedStatement() ?? LedgerStatement(), bundleID: try row.get("bundle_id"),
            note: .init(event: "ordered", detail: "contract \(order.contract)"))
        let ledgers = LedgerTransaction(message.withMoves, memory: memory)
        let applied = try ledgers.apply(try await transaction.pipeline(ledgers.opening)[...])
        var closing = applied.closing()
        let names = try await names(of: name, applied.batch, transaction)
        guard try await transaction.query(Self.contracts(of: names.all)).isEmpty else {
            // The subscription has a contract under another of its names. The ledger still records the store's
            // statement.
            let answers = try await transaction.commit(with: closing.queries)
            return (.conflicts, try closing.changed(answers), closing)
        }
        let messages = try ContractStatements.endpoints(found[3]).filter { $0.takes(name.environment) }.flatMap {
            endpoint in
            [BillingEvent.orderSucceeded, order.type == .signup ? .contractCreated : .contractChanged]
                .filter(endpoint.wants)
                .map { event in
                    endpoint.delivery(
                        event, publisher: publisher, contract: order.contract.description,
                        customer: order.customer.description,
                        order: event == .orderSucceeded ? order.id.description : nil,
                        at: memory.clock.nowOrHostTime)
                }
        }
        closing.hasMessages = closing.hasMessages || !messages.isEmpty
        let answers = try await transaction.commit(
            with: closing.queries + writes(order, names.joining, publisher: publisher)
                + DeliveryStatements.enqueue(messages) + QuestionStore.sweep([(name: name, app: message.bundleID)]))
        return (verdict, try closing.changed(answers), closing)
    }

    /// All names under which the subscription may have a contract, and those that join this one. No move can happen
    /// meanwhile, since the ledgers are locked.
    private func names(
        of name: SubscriptionName, _ batch: LedgerBatch, _ transaction: PostgresTransaction
    ) async throws -> (all: [SubscriptionName], joining: [SubscriptionName]) {
        guard let ledger = batch.all.first(where: { $0.message.name == name })?.ledger else {
            return ([name], [name])
        }
        let earlier = ledger.movedFrom.sorted().map(name.under)
        guard let next = ledger.movedTo.map(name.under) else { return ([name] + earlier, [name]) }
        let later = try await SubscriptionHistory.read([next]) { try await transaction.query($0) }
        let joining = [name] + later.flatMap(\.path).filter { $0 != name }
        return (joining + earlier + later.flatMap { $0.names() }.filter { !joining.contains($0) }, joining)
    }

    /// A subscription joins only one contract: a second insert violates the primary key, and nothing of the commit is
    /// written. Updating `checked_at` prevents a concurrent removal of this subscription as an old one.
    private func writes(_ order: BillingOrder, _ names: [SubscriptionName], publisher: PublisherID) -> [SQL] {
        let joins: [SQL] = names.map { name in
            """
            INSERT INTO contract_subscriptions (
                bucket, external_subscription, publisher, contract, customer, platform, environment, subscription_key,
                ledger_bucket, added_at)
            VALUES (
                \(BillingID(external: name).key), \(.text(publisher)), \(.billingID(order.contract)), \(.billingID(order.customer)),
                \(.text(order.platform.rawValue)), \(.text(name.environment)), \(.text(name.originalTransactionID)),
                \(.int2(Int16(name.bucket.number))), clock_timestamp())
            """
        }
        let contract: SQL = """
            INSERT INTO contracts (bucket, id, publisher, customer, platform, created_at)
            VALUES (
                \(order.contract.key), \(.text(publisher)), \(.billingID(order.customer)), \(.text(order.platform.rawValue)),
                clock_timestamp())
            """
        return joins + (order.type == .signup ? [contract] : []) + [
            """
            UPDATE orders SET state = \(OrderState.completed), completed_at = now()
            WHERE (bucket, id) = (\(order.id.key))
            """,
            """
            UPDATE external_subscriptions SET checked_at = clock_timestamp()
            WHERE (bucket, id) = (\(order.externalSubscription.key))
            """,
        ]
    }
}
