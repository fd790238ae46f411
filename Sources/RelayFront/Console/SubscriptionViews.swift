import ConsolePages
import Hummingbird
import RelayCore
import RelayStore

/// Subscriptions with their lives, and who got one from whom.
enum SubscriptionViews {
    static func list(
        _ desk: ConsoleDesk, _ request: Request, _ context: FrontContext, _ visitor: ConsoleDesk.Visitor
    ) async throws -> Response {
        let (query, path) = (ConsoleQuery(request), Section.subscriptions.path)
        var (items, next): ([OpsSubscription], SubscriptionCursor?) = ([], nil)
        let wrong = try await query.reading {
            var page = PageQuery($0)
            let problem = page.choice("problem", AccessProblem.allCases.map { ($0.name, $0) })
            let filter = SubscriptionFilter(
                originalTransactionID: page.originalTransactionID(), customer: page.customer(),
                isParked: page.choice("parked", [("true", true)]) ?? false, limit: page.limit(),
                cursor: page.cursor { SubscriptionCursor($0) })
            try page.end()
            if let problem {
                (items, next) = try await desk.store.accessProblems(
                    problem, limit: filter.limit, cursor: filter.cursor, in: visitor.scope)
            } else {
                (items, next) = try await desk.store.subscriptions(matching: filter, in: visitor.scope)
            }
        }
        if items.count == 1, let one = items.first, query["originalTransactionId"] != nil {
            return desk.response(detail(one, desk, visitor))
        }
        let names = ["originalTransactionId", "customerEmail", "parked", "problem"]
        var frame = desk.frame("Subscriptions", visitor, at: .subscriptions)
        frame.notice = ConsoleAction.notice(query["done"])
        return desk.response(
            ListPage(
                frame,
                filters: [
                    .init(names[0], "Original transaction", value: query[names[0]]),
                    .init(names[1], "Email", value: query[names[1]]),
                    .init(names[2], "Parked", value: query[names[2]], of: [(value: "true", title: "parked")]),
                    .init(
                        names[3], "Access (alone)", value: query[names[3]],
                        of: AccessProblem.allCases.map { (value: $0.name, title: $0.name) }),
                ], wrong: wrong, table: table(items, visitor), here: path,
                first: query["cursor"] == nil ? nil : path,
                next: ConsoleLink.page(path, query.all(names), cursor: next),
                picks: ConsoleSelection.picks([.replaySubscription], visitor)))
    }

    private static func detail(
        _ one: OpsSubscription, _ desk: ConsoleDesk, _ visitor: ConsoleDesk.Visitor
    ) -> DetailPage {
        DetailPage(
            desk.frame("Subscription \(one.name.originalTransactionID)", visitor, at: .subscriptions, live: 10),
            state: one.status?.name ?? "not known", tone: tone(one.status),
            lead: (one.email.map { "It belongs to \($0)." } ?? "Nobody has claimed it.")
                + (one.parkedAt.map { " It is parked since \(ConsoleText.time($0))." } ?? ""),
            actions: visitor.isOperator
                ? [
                    .init(
                        ConsoleAction.replaySubscription.button,
                        href: ConsoleAction.replaySubscription.path("\(SubscriptionCursor(one.name))"))
                ] : [],
            facts: [
                .init("Customer", one.email?.text, href: one.email.map(ConsoleLink.customer)),
                .init("Validation", one.validation?.description, href: one.validation.map(ConsoleLink.validation)),
                .init("Publisher", one.name.publisher.text), .init("Environment", one.name.environment.text),
                .init("Offer", one.offerID?.text), .init("Product", one.productID?.text),
                .init("Renews as", one.autoRenewProductID?.text), .init("Bundle", one.bundleID?.text),
                .init("Will renew", one.willRenew.map { $0 ? "yes" : "no" }),
                .init("Access until", ConsoleText.time(one.expiresAt)), .init("Reason", one.reason),
                .init("Looked at next", ConsoleText.time(one.dueAt)), .init("Trouble", one.trouble),
            ],
            sections: [
                .init(
                    "Life, oldest first",
                    table: Table(
                        ["At", "Event", "Status then", "Access until", "Learned from", "Detail"],
                        one.timeline.map { entry in
                            let source =
                                entry.validation.map {
                                    Table.Cell("\($0)", href: ConsoleLink.validation($0), isCode: true)
                                }
                                ?? Table.Cell(entry.notification?.description, isCode: true)
                            return [
                                .init(ConsoleText.time(entry.at)), .init(entry.event),
                                .init(entry.status?.name, tone: tone(entry.status)),
                                .init(ConsoleText.time(entry.expiresAt)), source, .init(entry.detail),
                            ]
                        }, empty: "Nothing is written of it."))
            ])
    }

    /// - Parameter visitor: who may pick rows; nil: nobody.
    static func table(_ items: [OpsSubscription], _ visitor: ConsoleDesk.Visitor? = nil) -> Table {
        Table(
            [
                "Original transaction", "Status", "Customer", "Product", "Access until", "Will renew", "Environment",
                "Publisher",
            ],
            items.map { one in
                [
                    .init(
                        one.name.originalTransactionID.text,
                        href: ConsoleLink.subscription(one.name.originalTransactionID),
                        isCode: true, note: note(one),
                        pick: visitor?.isOperator == true ? "\(SubscriptionCursor(one.name))" : nil),
                    .init(one.status?.name, tone: tone(one.status), note: one.reason),
                    .init(one.email?.text, href: one.email.map(ConsoleLink.customer)), .init(one.productID?.text),
                    .init(ConsoleText.time(one.expiresAt)), .init(one.willRenew.map { $0 ? "yes" : "no" }),
                    .init(one.name.environment.text), .init(one.name.publisher.text),
                ]
            }, empty: "No subscription is like that.")
    }

    /// What is wrong with it.
    private static func note(_ one: OpsSubscription) -> String? {
        let wrong = [one.problem?.name, one.parkedAt == nil ? nil : "parked"].compactMap(\.self)
        guard !wrong.isEmpty else { return nil }
        return ([wrong.joined(separator: ", ")] + [one.trouble].compactMap(\.self)).joined(separator: ": ")
    }

    private static func tone(_ status: SubscriptionStanding.Status?) -> Tone? {
        switch status {
        case .active: .ok
        case .inGrace, .inBillingRetry: .warning
        case .expired, .revoked: .quiet
        case nil: nil
        }
    }

    // MARK: Transfers

    static func transfers(
        _ desk: ConsoleDesk, _ request: Request, _ context: FrontContext, _ visitor: ConsoleDesk.Visitor
    ) async throws -> Response {
        let (query, path) = (ConsoleQuery(request), Section.transfers.path)
        let names = ["originalTransactionId", "customerEmail"]
        func read(_ query: QueryItems) async throws -> ([OpsTransfer], ValidationCursor?) {
            var page = PageQuery(query)
            let (key, customer, limit) = (page.originalTransactionID(), page.customer(), page.limit())
            let cursor = page.cursor { ValidationCursor($0) }
            try page.end()
            return try await desk.store.transfers(
                originalTransactionID: key, customer: customer, limit: limit, cursor: cursor, in: visitor.scope)
        }
        if ConsoleExport.isWanted(query) {
            return try await ConsoleExport.response("transfers", query.all(names)) {
                let (items, next) = try await read($0)
                return (table(items), items.count, next?.description)
            }
        }
        var (items, next): ([OpsTransfer], ValidationCursor?) = ([], nil)
        let wrong = try await query.reading { (items, next) = try await read($0) }
        return desk.response(
            ListPage(
                desk.frame("Transfers", visitor, at: .transfers),
                lead:
                    "Subscriptions that passed from one email to another, newest first. Each was one transaction: the old owner's access ended as the new one's began.",
                filters: [
                    .init(names[0], "Original transaction", value: query[names[0]]),
                    .init(names[1], "Email on either side", value: query[names[1]]),
                ], wrong: wrong, table: table(items), here: path, first: query["cursor"] == nil ? nil : path,
                next: ConsoleLink.page(path, query.all(names), cursor: next),
                export: ConsoleExport.path(path, query.all(names))))
    }

    static func table(_ items: [OpsTransfer]) -> Table {
        Table(
            ["At", "Original transaction", "From", "To", "Taken from", "Given to"],
            items.map { one in
                [
                    .init(ConsoleText.time(one.at)),
                    .init(
                        one.name.originalTransactionID.text,
                        href: ConsoleLink.subscription(one.name.originalTransactionID),
                        isCode: true, note: "\(one.name.environment), \(one.name.publisher)"),
                    .init(one.from.text, href: ConsoleLink.customer(one.from)),
                    .init(one.to.text, href: ConsoleLink.customer(one.to)),
                    .init("\(one.fromValidation)", href: ConsoleLink.validation(one.fromValidation), isCode: true),
                    .init("\(one.toValidation)", href: ConsoleLink.validation(one.toValidation), isCode: true),
                ]
            }, empty: "No subscription has passed on.")
    }
}
