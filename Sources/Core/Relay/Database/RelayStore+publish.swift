package import RelayCore

extension RelayStore {
    /// Call after the commit: clears outdated cache entries of this process, and notifies its waiters.
    func publish(_ changed: [Validation], customers: [CustomerName] = []) {
        database.afterCommit {
            if !customers.isEmpty {
                memory.customerPurchases.changed(customers)
                memory.signal(.customers)
            }
            memory.validations.changed(changed.map(\.id))
            memory.changes.publish(changed)
        }
    }

    /// The same after a ledger transaction.
    package func publish(_ changed: [Validation], _ closing: LedgerTransaction.Closing) {
        publish(changed, customers: closing.customers)
        if closing.hasMessages { database.afterCommit { memory.signal(.webhooks) } }
        if closing.asksStores { database.afterCommit { memory.signal(.questions) } }
        if closing.makesDue { database.afterCommit { memory.signal(.subscriptions) } }
    }
}
