import Logging
import Postgres
import Relay
import RelayCore

struct BillingContract: Sendable, Equatable {
    var id: BillingID
    var customer: BillingID
    var platform: StorePlatform
    var createdAt: Timestamp
    var externalSubscriptions: [BillingID]
    var state: ContractState
}

extension OrderStore {
    /// A page of contracts, each with its subscriptions and their ledgers. Indexes used: the page's own, then
    /// `contract_subscriptions_contract` and the primary key of the ledgers.
    ///
    /// - Parameter page: the condition of `contracts c`, with order and limit.
    private static func select(_ page: SQL) -> SQL {
        """
        WITH page AS MATERIALIZED (
            SELECT c.id, c.customer, c.platform, c.created_at FROM contracts c WHERE \(page)
        )
        SELECT c.id, c.customer, c.platform, c.created_at, s.external_subscription, s.publisher, s.environment,
               s.subscription_key, l.status, clock_timestamp() AS now, l.subscription_key IS NOT NULL AS has_ledger,
               \(StoredLedger.columns)
        FROM page c
        JOIN contract_subscriptions s ON s.contract = c.id
        LEFT JOIN ledgers l ON l.bucket = s.ledger_bucket AND l.publisher = s.publisher
             AND l.environment = s.environment AND l.subscription_key = s.subscription_key
        ORDER BY c.created_at, c.id, s.added_at, s.external_subscription
        """
    }

    /// Nil if this publisher has no such contract. Index used: the primary key.
    func contract(_ id: BillingID, publisher: PublisherID) async throws -> BillingContract? {
        let page: SQL = "(c.bucket, c.id) = (\(id.key)) AND c.publisher = \(.text(publisher))"
        return try contracts(try await database.query(Self.select(page))).first
    }

    /// Indexes used: `contracts_written`, `contracts_customer_written`. A contract with a ledger that this version cannot
    /// read is left out, and logged: it must not hide the others.
    ///
    /// - Parameter customer: nil: all customers.
    func contracts(
        of publisher: PublisherID, customer: BillingID? = nil, _ page: BillingPage
    ) async throws -> [BillingContract] {
        let isTheirs: SQL = customer.map { "c.customer = \(.billingID($0)) AND " } ?? ""
        let page = isTheirs + page.rows(of: publisher, in: "contracts", as: "c")
        return try contracts(try await database.query(Self.select(page))) { id, error in
            memory.logger.error(
                "a contract is left out of the list", metadata: ["contract": "\(id)", "error": "\(error)"])
        }
    }

    /// - Parameter unreadable: called for each contract that is left out since its ledger cannot be read; nil: that is an
    ///   error.
    private func contracts(
        _ rows: PostgresRows, unreadable: ((BillingID, StoreError) -> Void)? = nil
    ) throws -> [BillingContract] {
        var broken: [BillingID: StoreError] = [:]
        var contracts: [BillingContract] = []
        var parts: [ContractState.Part] = []
        var now = Timestamp(microseconds: 0)
        func finish() {
            guard let last = contracts.indices.last else { return }
            contracts[last].state = ContractState(parts, at: now, leeway: memory.leeway)
            parts = []
        }
        for row in rows {
            let id = try row.billingID("id")
            if contracts.last?.id != id {
                finish()
                contracts.append(
                    BillingContract(
                        id: id, customer: try row.billingID("customer"), platform: try row.platform(),
                        createdAt: try row.timestamp("created_at"), externalSubscriptions: [],
                        state: ContractState([], at: now, leeway: memory.leeway)))
            }
            now = try row.timestamp("now")
            contracts[contracts.count - 1].externalSubscriptions.append(try row.billingID("external_subscription"))
            guard try row.get("has_ledger", as: Bool.self) else { continue }
            do {
                parts.append(
                    .init(
                        name: try row.subscriptionName(), ledger: try StoredLedger.read(row, ownerNo: nil),
                        shown: try row.get("status", as: Int16?.self).flatMap(SubscriptionState.Status.init)))
            } catch let error as StoreError where unreadable != nil {
                broken[id] = error
            }
        }
        finish()
        for (id, error) in broken { unreadable?(id, error) }
        return contracts.filter { broken[$0.id] == nil }
    }

    /// Index used: the primary key.
    static func contracts(of names: [SubscriptionName]) -> SQL {
        let ids = names.map { BillingID(external: $0) }
        return """
            SELECT i.ordinal, c.contract, c.customer
            FROM \(.externalSubscriptions(ids), as: "i", ordinal: "ordinal")
            JOIN contract_subscriptions c ON c.bucket = i.bucket AND c.external_subscription = i.id
            ORDER BY i.ordinal
            """
    }

    /// Contracts of the subscriptions with these names.
    func contracts(of names: [SubscriptionName]) async throws -> [SubscriptionName: CheckedSubscription.Contract] {
        var contracts: [SubscriptionName: CheckedSubscription.Contract] = [:]
        for row in try await database.query(Self.contracts(of: names)) {
            contracts[names[try row.get("ordinal", as: Int.self) - 1]] = .init(
                id: try row.billingID("contract"), customer: try row.billingID("customer"))
        }
        return contracts
    }
}
