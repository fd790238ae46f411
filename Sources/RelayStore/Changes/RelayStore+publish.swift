import RelayCore

extension RelayStore {
    /// After the commit: nobody in this process may be told what was true before it, and who waits is told what is true now.
    func publish(_ changed: [Validation], customers: [CustomerName] = []) {
        database.afterCommit {
            if !customers.isEmpty {
                memory.told.changed(customers)
                memory.onCustomersChanged()
            }
            memory.validations.changed(changed.map(\.id))
            memory.changes.publish(changed)
        }
    }

    /// The same of what subscriptions' ledgers have heard.
    func publish(_ changed: [Validation], _ closing: LedgerUpdate.Closing) {
        publish(changed, customers: closing.customers)
        if closing.hasMessages { database.afterCommit { memory.onMessagesQueued() } }
        if closing.asksStores { database.afterCommit { memory.onQuestionsAsked() } }
    }
}
