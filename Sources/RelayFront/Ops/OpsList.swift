import Operations
import RelayCore
import RelayStore

/// A list that operators read, at the console and by the ops API: how it is asked for, and a page of it.
struct OpsList<Item: Viewed>: Sendable {
    typealias Page = (items: [Item], next: String?)

    /// - Throws: ``Problem`` 422 that names every wrong parameter.
    let read: @Sendable (QueryItems, RelayStore, OpsScope) async throws -> Page

    init(_ read: @escaping @Sendable (QueryItems, RelayStore, OpsScope) async throws -> Page) { self.read = read }
}

extension OpsList<ListedValidation> {
    static var validations: Self { validations(nil) }

    /// - Parameter selection: nil: as the query says.
    static func validations(_ selection: ValidationFilter.Selection?) -> Self {
        OpsList { query, store, scope in
            var filter = try ValidationFilter(query)
            if let selection { filter.selection = selection }
            let (items, next) = try await store.validations(matching: filter, in: scope)
            return (items, next?.description)
        }
    }
}

extension ValidationFilter {
    /// - Throws: ``Problem`` 422 that names every wrong parameter.
    init(_ items: QueryItems) throws {
        var query = PageQuery(items)
        self.init(
            status: query.choice("status", ValidationStatus.allCases.map { ($0.name, $0) }),
            // Ten years: older than anything that is kept, and far from any overflow.
            olderThan: query.number("olderThanSeconds", in: 0...315_360_000).map { .seconds($0) },
            customer: query.customer(), offerID: query.offerID(),
            selection: query.choice("parked", [("true", .parked)]) ?? query.choice("waiting", [("true", .waiting)])
                ?? .all,
            originalTransactionID: query.originalTransactionID(),
            limit: query.limit(), cursor: query.cursor(ValidationCursor.init))
        try query.end()
    }
}

extension OpsList<OpsSubscription> {
    static var subscriptions: Self {
        OpsList { query, store, scope in
            var page = PageQuery(query)
            let filter = page.subscriptions()
            try page.end()
            let (items, next) = try await store.subscriptions(matching: filter, in: scope)
            return (items, next?.description)
        }
    }

    /// Granted access that may be wrong.
    static var accessProblems: Self {
        OpsList { query, store, scope in
            var page = PageQuery(query)
            let problem = page.choice("problem", AccessProblem.allCases.map { ($0.name, $0) })
            let filter = page.subscriptions()
            try page.end()
            let (items, next) = try await store.accessProblems(
                problem, limit: filter.limit, cursor: filter.cursor, in: scope)
            return (items, next?.description)
        }
    }
}

extension PageQuery {
    fileprivate mutating func subscriptions() -> SubscriptionFilter {
        SubscriptionFilter(
            originalTransactionID: originalTransactionID(), customer: customer(),
            isParked: choice("parked", [("true", true)]) ?? false, limit: limit(),
            cursor: cursor(SubscriptionCursor.init))
    }
}

extension OpsList<OpsTransfer> {
    static var transfers: Self {
        OpsList { query, store, scope in
            var page = PageQuery(query)
            let filter = TransferFilter(
                originalTransactionID: page.originalTransactionID(), customer: page.customer(), limit: page.limit(),
                cursor: page.cursor(ValidationCursor.init))
            try page.end()
            let (items, next) = try await store.transfers(matching: filter, in: scope)
            return (items, next?.description)
        }
    }
}

extension OpsList<OpsNotification> {
    static var notifications: Self {
        OpsList { query, store, scope in
            var page = PageQuery(query)
            let filter = NotificationFilter(
                relay: page.choice("status", OpsNotification.RelayStatus.allCases.map { ($0.name, $0) }),
                originalTransactionID: page.originalTransactionID(), limit: page.limit(),
                cursor: page.cursor(ValidationCursor.init))
            try page.end()
            let (items, next) = try await store.notifications(matching: filter, in: scope)
            return (items, next?.description)
        }
    }
}

extension OpsList<OpsEvent> {
    static var events: Self {
        OpsList { query, store, scope in
            var page = PageQuery(query)
            let filter = EventFilter(
                status: page.choice("status", OpsEvent.Status.allCases.map { ($0.rawValue, $0) }), limit: page.limit(),
                cursor: page.cursor(ValidationCursor.init))
            try page.end()
            let (items, next) = try await store.events(matching: filter, in: scope)
            return (items, next?.description)
        }
    }
}

extension OpsList<OpsDelivery> {
    static var messages: Self {
        OpsList { query, store, scope in
            var page = PageQuery(query)
            let filter = DeliveryFilter(
                state: page.choice("state", DeliveryState.allCases.map { ($0.name, $0) }), endpoint: page.endpoint(),
                applicationUsername: Username(page.applicationUsername()), limit: page.limit(),
                cursor: page.cursor(ValidationCursor.init))
            try page.end()
            let (items, next) = try await store.deliveries(matching: filter, in: scope)
            return (items, next?.description)
        }
    }
}

extension OpsList<AuditRecord> {
    static var audit: Self {
        OpsList { query, store, scope in
            var page = PageQuery(query)
            let filter = AuditFilter(
                action: page.choice("action", AuditEntry.Action.allCases.map { ($0.rawValue, $0) }),
                actor: query["actor"], target: query["target"], limit: page.limit(),
                cursor: page.cursor(AuditCursor.init))
            try page.end()
            let (items, next) = try await store.auditLog(matching: filter, in: scope)
            return (items, next?.description)
        }
    }
}
