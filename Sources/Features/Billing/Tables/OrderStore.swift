import Relay

/// Billing customers, orders and contracts.
struct OrderStore: Aggregate { let relay: RelayStore }

extension RelayStore {
    var orders: OrderStore { OrderStore(relay: self) }
}
