public import RelayCore
public import RelayStore

/// Acts that send messages. Each leeway is how long the relay waits for the renewal of a subscription after its end.
extension Act<DeliveryID> {
    /// Sends the customer's current state to the same endpoint, as a new message. A message about no customer is also
    /// sent again as a new one. A parked message is delivered unchanged.
    ///
    /// The outcome is the message that will be delivered.
    public static func replay(message id: DeliveryID, leeway: Duration) -> Self {
        Act(.webhookReplayed, wakes: .webhooks) { store, actor, _ in
            if let owner = try await store.ops.replayParkedDelivery(id, in: actor.scope) {
                return (id, Record("\(id)", of: owner.publisher))
            }
            guard let delivery = try await store.webhooks.delivery(id, in: actor.scope) else {
                throw ActRefusal.unknown(.message)
            }
            guard let endpoint = EndpointID(delivery.endpoint),
                try await store.webhooks.endpoint(endpoint, in: actor.scope)?.isActive == true
            else { throw ActRefusal.endpointNotActive }
            if let new = try await store.webhooks.repeatNotice(id, in: actor.scope) {
                return (new, Record("\(id)", of: delivery.publisher, remark: "as \(new)"))
            }
            let new = try await CustomerUpdates(store: store, leeway: leeway).repeatCustomer(
                publisher: delivery.publisher, username: delivery.applicationUsername, endpoint: endpoint)
            guard let new = new.first else { throw ActRefusal.nobodyToTell }
            return (new, Record("\(id)", of: delivery.publisher, remark: "as \(new)"))
        }
    }
}

extension Act<[DeliveryID]> {
    /// Sends the current state of one customer to all endpoints of a publisher. The outcome is the new messages.
    ///
    /// - Parameter username: the publisher's own name for the customer.
    public static func resync(_ username: Username, of publisher: PublisherID, leeway: Duration) -> Self {
        Act(.customerResynced, wakes: .webhooks) { store, actor, _ in
            guard actor.scope.contains(publisher) else { throw ActRefusal.unknown(.publisher) }
            let new = try await CustomerUpdates(store: store, leeway: leeway).repeatCustomer(
                publisher: publisher, username: username, endpoint: nil)
            guard !new.isEmpty else { throw ActRefusal.nobodyToTell }
            return (new, Record(username.text, of: publisher, remark: "of \(publisher)"))
        }
    }
}

extension LongAct<Int> {
    /// Sends endpoints the current state of every customer about whom they missed messages or changes in a time range.
    /// The outcome is the number of new messages, or in a dry run their expected number.
    public static func replay(messages filter: RepeatFilter, leeway: Duration, isDryRun: Bool) -> Self {
        LongAct(.webhookReplayed) { work in
            guard !isDryRun else { return try await eachPage(of: filter, work) { $0.count } }
            guard try await !work.store.webhooks.repeatTargets(filter, in: work.actor.scope).isEmpty else { return 0 }
            return try await work.recorded("since \(filter.from.rfc3339)", of: work.actor.scope.publisher) {
                let updates = CustomerUpdates(store: work.store, leeway: leeway)
                let count = try await eachPage(of: filter, work) { page in
                    var count = 0
                    for target in page {
                        let new = try await updates.repeatCustomer(
                            publisher: target.publisher, username: target.username, endpoint: target.endpoint)
                        count += new.count
                    }
                    return count
                }
                return (count, "\(count) messages")
            }
        }
    }

    private static func eachPage(
        of filter: RepeatFilter, _ work: LongWork, _ count: ([RepeatTarget]) async throws -> Int
    ) async throws -> Int {
        var (filter, sum) = (filter, 0)
        while true {
            let page = try await work.store.webhooks.repeatTargets(filter, in: work.actor.scope)
            sum += try await count(page)
            guard page.count == filter.limit, let last = page.last else { return sum }
            filter.after = last
        }
    }
}
