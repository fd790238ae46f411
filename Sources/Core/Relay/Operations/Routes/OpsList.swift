import RelayCore

/// A list for operators, in the console and the ops API: its query and one page.
package struct OpsList<Item: Viewed>: Sendable {
    package typealias Page = (items: [Item], next: String?)

    /// - Throws: ``Problem`` 422 that names every wrong parameter.
    package let read: @Sendable (PageQuery, RelayStore, OpsScope) async throws -> Page

    /// - Parameters:
    ///   - filter: reads the filter from the query.
    ///   - find: reads a page of the matching rows.
    init<Filter, Cursor: CustomStringConvertible & SendableMetatype>(
        _ filter: @escaping @Sendable (inout PageQuery) -> Filter,
        find: @escaping @Sendable (RelayStore, Filter, OpsScope) async throws -> ([Item], Cursor?)
    ) {
        read = { query, store, scope in
            var page = query
            let filter = filter(&page)
            try page.end()
            let (items, next) = try await find(store, filter, scope)
            return (items, next?.description)
        }
    }
}

extension OpsList<ListedValidation> {
    package static var validations: Self { validations(nil) }

    /// - Parameter selection: nil: the query decides.
    package static func validations(_ selection: ValidationFilter.Selection?) -> Self {
        OpsList { page in
            var filter = ValidationFilter(&page)
            if let selection { filter.selection = selection }
            return filter
        } find: { store, filter, scope in
            try await store.ops.validations(matching: filter, in: scope)
        }
    }
}

extension ValidationFilter {
    init(_ page: inout PageQuery) {
        let parked = page.choice("parked", [("true", Selection.parked)])
        let waiting = page.choice("waiting", [("true", Selection.waiting)])
        self.init(
            status: page.choice("status", ValidationStatus.allCases.map { ($0.name, $0) }),
            // Ten years: older than all stored rows, and far from any overflow.
            olderThan: page.number("olderThanSeconds", in: 0...315_360_000).map { .seconds($0) },
            customer: page.customer(), offerID: page.offerID(),
            selection: parked ?? waiting ?? .all,
            originalTransactionID: page.originalTransactionID(),
            limit: page.limit(), cursor: page.cursor(ValidationCursor.init))
    }
}

extension OpsList<OpsSubscription> {
    package static var subscriptions: Self {
        OpsList { page in
            SubscriptionFilter(
                originalTransactionID: page.originalTransactionID(), customer: page.customer(),
                isParked: page.choice("parked", [("true", true)]) ?? false, limit: page.limit(),
                cursor: page.cursor(SubscriptionCursor.init))
        } find: { store, filter, scope in
            try await store.ops.subscriptions(matching: filter, in: scope)
        }
    }

    /// Lists granted access that may be wrong.
    package static var accessProblems: Self {
        OpsList { page in
            (
                problem: page.choice("problem", AccessProblem.allCases.map { ($0.name, $0) }), limit: page.limit(),
                cursor: page.cursor(SubscriptionCursor.init)
            )
        } find: { store, asked, scope in
            try await store.ops.accessProblems(asked.problem, limit: asked.limit, cursor: asked.cursor, in: scope)
        }
    }
}

extension OpsList<OpsTransfer> {
    package static var transfers: Self {
        OpsList { page in
            TransferFilter(
                originalTransactionID: page.originalTransactionID(), customer: page.customer(), limit: page.limit(),
                cursor: page.cursor(ValidationCursor.init))
        } find: { store, filter, scope in
            try await store.ops.transfers(matching: filter, in: scope)
        }
    }
}

extension OpsList<OpsNotification> {
    package static var notifications: Self {
        OpsList { page in
            NotificationFilter(
                relay: page.choice("status", OpsNotification.RelayStatus.allCases.map { ($0.name, $0) }),
                originalTransactionID: page.originalTransactionID(), limit: page.limit(),
                cursor: page.cursor(ValidationCursor.init))
        } find: { store, filter, scope in
            try await store.ops.notifications(matching: filter, in: scope)
        }
    }
}

extension OpsList<OpsConsumption> {
    package static var consumption: Self {
        OpsList { page in
            ConsumptionFilter(
                state: page.choice("state", ConsumptionState.allCases.map { ($0.name, $0) }),
                originalTransactionID: page.originalTransactionID(), limit: page.limit(),
                cursor: page.cursor(ValidationCursor.init))
        } find: { store, filter, scope in
            try await store.consumption.list(matching: filter, in: scope)
        }
    }
}

extension OpsList<OpsEvent> {
    package static var events: Self {
        OpsList { page in
            EventFilter(
                status: page.choice("status", OpsEvent.Status.allCases.map { ($0.rawValue, $0) }), limit: page.limit(),
                cursor: page.cursor(ValidationCursor.init))
        } find: { store, filter, scope in
            try await store.ops.events(matching: filter, in: scope)
        }
    }
}

extension OpsList<OpsDelivery> {
    package static var messages: Self {
        OpsList { page in
            DeliveryFilter(
                state: page.choice("state", DeliveryState.allCases.map { ($0.name, $0) }), endpoint: page.endpoint(),
                applicationUsername: page.applicationUsername(), limit: page.limit(),
                cursor: page.cursor(ValidationCursor.init))
        } find: { store, filter, scope in
            try await store.webhooks.deliveries(matching: filter, in: scope)
        }
    }
}

extension OpsList<AuditRecord> {
    package static var audit: Self {
        OpsList { page in
            AuditFilter(
                action: page.choice("action", AuditEntry.Action.allCases.map { ($0.rawValue, $0) }),
                actor: page.text("actor"), target: page.text("target"), limit: page.limit(),
                cursor: page.cursor(AuditCursor.init))
        } find: { store, filter, scope in
            try await store.audit.list(matching: filter, in: scope)
        }
    }
}
