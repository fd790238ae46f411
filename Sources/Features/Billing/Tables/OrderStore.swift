import RelayStore

/// Billing customers, orders and contracts.
struct OrderStore: Sendable {
    let relay: RelayStore

    var database: Database { relay.database }
    var memory: StoreMemory { relay.memory }
}

extension RelayStore {
    var orders: OrderStore { OrderStore(relay: self) }
}
