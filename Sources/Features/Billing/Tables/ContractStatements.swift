import Formats
import Postgres
import Relay
import RelayCore

/// Events of contracts, derived from changes of their subscriptions. Costs a ledger transaction one primary key probe
/// for each subscription, and more only if there is a contract.
enum ContractStatements {
    private static let endpointColumns: SQL = "e.id, e.events, e.environment"
    private static let isActive: SQL =
        "e.kind = \(WebhookEndpoint.StoredKind.events) AND e.disabled_at IS NULL AND e.removed_at IS NULL"

    /// Reads all of a small table.
    static func endpoints(of publisher: PublisherID) -> SQL {
        """
        SELECT \(endpointColumns) FROM webhook_endpoints e
        WHERE e.publisher = \(.text(publisher)) AND \(isActive)
        ORDER BY e.id
        """
    }

    static func endpoints(_ rows: PostgresRows) throws -> [NotifiedContract.Endpoint] { try rows.compactMap(endpoint) }

    /// Index used: the primary key.
    static func look(for names: [SubscriptionName]) -> SQL {
        let ids = names.map { BillingID(external: $0) }
        return """
            SELECT \(endpointColumns), i.ordinal, c.contract, c.customer, c.publisher
            FROM \(.externalSubscriptions(ids), as: "i", ordinal: "ordinal")
            CROSS JOIN LATERAL (
                SELECT * FROM contract_subscriptions c
                WHERE c.bucket = i.bucket AND c.external_subscription = i.id
                OFFSET 0) AS c
            LEFT JOIN webhook_endpoints e ON e.publisher = c.publisher AND \(isActive)
            ORDER BY i.ordinal, e.id
            """
    }

    /// - Parameter found: called for each subscription with a contract, with the index of its name. A failure is an endpoint
    ///   that this version cannot read.
    static func read(
        _ rows: PostgresRows, found: (Int, Result<NotifiedContract, StoreError>) -> Void
    ) throws {
        var contracts: [Int: Result<NotifiedContract, StoreError>] = [:]
        for row in rows {
            let index = try row.get("ordinal", as: Int.self) - 1
            var contract =
                try contracts[index]
                ?? .success(
                    NotifiedContract(
                        id: try row.get("contract"), customer: try row.get("customer"),
                        publisher: try row.get("publisher")))
            do {
                let endpoint = try endpoint(row)
                contract = contract.map { $0.with(endpoint) }
            } catch let error as StoreError {
                contract = .failure(error)
            }
            contracts[index] = contract
        }
        for (index, contract) in contracts { found(index, contract) }
    }

    private static func endpoint(_ row: PostgresRow) throws -> NotifiedContract.Endpoint? {
        guard let text = try row.get("id", as: String?.self), let id = EndpointID(text) else { return nil }
        let events = try row.get("events", as: String?.self) ?? ""
        return NotifiedContract.Endpoint(
            id: id, events: events.parts(at: ","), environment: try row.constant("environment"))
    }

    /// Messages to the contract's endpoints.
    static func deliveries(_ change: LedgerChange, to contract: NotifiedContract) -> [NewDelivery] {
        let endpoints = contract.endpoints.filter { $0.takes(change.message.name.environment) }
        return change.contractEvents.flatMap { event in
            endpoints.filter { $0.wants(event) }.map {
                $0.delivery(
                    event, publisher: contract.publisher, contract: contract.id, customer: contract.customer,
                    at: change.found.now)
            }
        }
    }

    /// Adds a subscription that the store continues under another number to its previous contract. Index used: the
    /// primary key.
    static func move(from name: SubscriptionName, to next: SubscriptionName) -> SQL {
        """
        INSERT INTO contract_subscriptions (
            bucket, external_subscription, publisher, contract, customer, platform, environment, subscription_key,
            ledger_bucket, added_at)
        SELECT \(BillingID(external: next).key), c.publisher, c.contract, c.customer, c.platform, c.environment,
               \(.text(next.originalTransactionID)), \(.int2(Int16(next.bucket.number))), clock_timestamp()
        FROM contract_subscriptions c
        WHERE (c.bucket, c.external_subscription) = (\(BillingID(external: name).key))
        ON CONFLICT (bucket, external_subscription) DO NOTHING
        """
    }
}

extension NotifiedContract.Endpoint {
    /// Each message has its own lane: none replaces another.
    func delivery(
        _ event: BillingEvent, publisher: PublisherID, contract: String, customer: String, order: String? = nil,
        at now: Timestamp
    ) -> NewDelivery {
        var generator = SystemRandomNumberGenerator()
        return NewDelivery(
            endpoint: id, publisher: publisher, lane: Username(EndpointID(using: &generator).description), sequence: 1,
            body: event.body(contract: contract, customer: customer, order: order), replaces: false, at: now)
    }
}

extension NotifiedContract {
    fileprivate func with(_ endpoint: Endpoint?) -> Self {
        var contract = self
        if let endpoint { contract.endpoints.append(endpoint) }
        return contract
    }
}
