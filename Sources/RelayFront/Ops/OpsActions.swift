import AppleStore
import RelayCore
import RelayStore

/// What an operator may do, by whichever door: the ops API or the console.
struct OpsActions: Sendable {
    let store: RelayStore
    let policy: NotificationPolicy
    let isRelayed: PerPublisher<Bool>
    /// How long after its end a subscription that will renew is waited for.
    let leeway: Duration
    /// Nil: this version cannot compose a customer's state, and has no replay of webhooks.
    let repeater: (any WebhookRepeater)?
    let inquirer: any CustomerInquirer
    let onNotification: @Sendable () -> Void
    let onMessage: @Sendable () -> Void

    /// Hears a notification once more, and passes it on again.
    ///
    /// - Throws: ``Problem``.
    func replayNotification(_ id: NotificationID, in scope: OpsScope, by: String, reason: String? = nil) async throws {
        guard let (item, body) = try await store.notification(id, in: scope) else {
            throw Problem(.unknownNotification, "nothing is known by this id")
        }
        let notification: StoreNotification
        do {
            notification = try await policy.judge(try ServerNotification(body: body.value))
        } catch let refusal as NotGenuine {
            // The configuration is another one than when it came.
            throw Problem(.notificationNotGenuine, "\(refusal.code.rawValue): \(refusal.detail)")
        }
        try await store.replay(
            item, notification, isRelayed: isRelayed.isRelayed(for: item.publisher), leeway: leeway, by: by,
            reason: reason)
        onNotification()
    }

    /// Tells the same endpoint the customer's state as it is now, as a new message. One that is parked is delivered as it is.
    ///
    /// - Throws: ``Problem``.
    func replayWebhook(
        _ id: DeliveryID, in scope: OpsScope, by: String, reason: String? = nil
    ) async throws -> OpsDelivery {
        if try await store.replayParkedDelivery(id, in: scope, by: by, reason: reason),
            let same = try await store.delivery(id, in: scope)
        {
            onMessage()
            return same
        }
        guard let repeater, let delivery = try await store.delivery(id, in: scope) else {
            throw Problem(.unknownDelivery, "nothing is known by this id")
        }
        guard let endpoint = EndpointID(delivery.endpoint),
            try await store.endpoint(endpoint, in: scope)?.isActive == true
        else {
            throw Problem(.endpointNotActive, "its endpoint is disabled or removed")
        }
        let new = try await repeater.repeatCustomer(
            publisher: delivery.publisher, username: delivery.applicationUsername, endpoint: endpoint)
        guard let new, let written = try await store.delivery(new, in: scope) else {
            throw Problem(.unknownDelivery, "nothing is known of that customer any more")
        }
        try await store.audit(
            AuditEntry(
                actor: by, .webhookReplayed, "\(id)", of: delivery.publisher, reason: reason ?? "as \(new)"))
        onMessage()
        return written
    }

    /// Tells all endpoints of a publisher the state of one customer once more.
    ///
    /// - Throws: ``Problem``.
    func resync(
        publisher: PublisherID, username: Username, in scope: OpsScope, by: String, reason: String
    ) async throws {
        guard scope.contains(publisher) else { throw Problem(.notFound, "nothing is known by this id") }
        let new = try await repeater?.repeatCustomer(publisher: publisher, username: username, endpoint: nil)
        guard new != nil else {
            throw Problem(.unknownDelivery, "nothing is known of that customer, or no endpoint takes messages")
        }
        try await store.audit(
            AuditEntry(actor: by, .customerResynced, username.text, of: publisher, reason: reason))
        onMessage()
    }

    /// Whoever asks by hand waits for the customer's turn.
    private static let patience = Duration.seconds(6)

    /// Asks Cleeng now what a customer is entitled to.
    ///
    /// - Parameter publisher: nil: the one whose customer they are, or the only one there is.
    /// - Throws: ``Problem``.
    func refresh(
        _ customer: CustomerEmail, of publisher: PublisherID?, in scope: OpsScope, by: String, reason: String
    ) async throws -> (publisher: PublisherID, outcome: CustomerInquiryOutcome) {
        let publisher = try await self.publisher(of: customer, publisher, in: scope)
        let outcome = try await inquirer.ask(
            about: customer, offer: nil, of: publisher, patience: Self.patience)
        try await store.audit(
            AuditEntry(
                actor: by, .customerRefreshed, customer.customer.text, of: publisher,
                reason: "\(reason) (\(outcome.rawValue))"))
        return (publisher, outcome)
    }

    private func publisher(
        of customer: CustomerEmail, _ named: PublisherID?, in scope: OpsScope
    ) async throws -> PublisherID {
        switch try await store.publisher(of: customer.customer, named: named, in: scope) {
        case .one(let publisher): return publisher
        case .unknown: throw Problem(.notFound, "no publisher goes by this id")
        case .several(let known):
            let names = known.map(\.text).joined(separator: ", ")
            throw Problem.invalidFields([
                FieldError(
                    "publisher", .required,
                    known.isEmpty ? "nobody's customer yet: name the publisher" : "must be one of \(names)")
            ])
        }
    }
}
