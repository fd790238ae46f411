public import RelayCore

/// Acts that send messages.
extension Act<DeliveryID> {
    /// Sends the customer's current state to the same endpoint, as a new message. A message about no customer is also
    /// sent again as a new one. A parked message is delivered unchanged.
    ///
    /// The outcome is the message that will be delivered.
    public static func replay(message id: DeliveryID) -> Self {
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
            let new = try await CustomerUpdates(store: store).repeatCustomer(
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
    public static func resync(_ username: Username, of publisher: PublisherID) -> Self {
        Act(.customerResynced, wakes: .webhooks) { store, actor, _ in
            guard actor.scope.contains(publisher) else { throw ActRefusal.unknown(.publisher) }
            let new = try await CustomerUpdates(store: store).repeatCustomer(
                publisher: publisher, username: username, endpoint: nil)
            guard !new.isEmpty else { throw ActRefusal.nobodyToTell }
            return (new, Record(username.text, of: publisher, remark: "of \(publisher)"))
        }
    }
}

extension LongAct<RepeatOutcome> {
    /// Sends endpoints the current state of every customer about whom they missed messages or changes in a time range.
    /// In a dry run, the outcome is the expected number of new messages.
    public static func replay(messages filter: RepeatFilter, isDryRun: Bool) -> Self {
        LongAct(.webhookReplayed) { work in
            var outcome = RepeatOutcome()
            guard !isDryRun else {
                try await work.store.webhooks.eachRepeatPage(filter, in: work.actor.scope) { outcome.sent += $0.count }
                return outcome
            }
            guard try await !work.store.webhooks.repeatTargets(filter, in: work.actor.scope).isEmpty else {
                return outcome
            }
            return try await work.recorded("since \(filter.from.rfc3339)", of: work.actor.scope.publisher) {
                do {
                    try await CustomerUpdates(store: work.store)
                        .repeatAll(filter, in: work.actor.scope, &outcome)
                } catch {
                    throw PartlyDone(part: "\(outcome)", cause: error)
                }
                return (outcome, "\(outcome)")
            }
        }
    }
}
