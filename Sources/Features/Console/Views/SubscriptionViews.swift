import Hummingbird
import Relay
import RelayCore

/// Pages of subscriptions with their timelines, and of transfers.
enum SubscriptionViews {
    private static let subscriptions = ConsoleList<OpsSubscription>(
        section: .subscriptions, path: Section.subscriptions.path, title: "Subscriptions",
        filters: [
            .init("originalTransactionId", "Original transaction"), .init("customerEmail", "Email"),
            .init("parked", "Parked", of: ["true"]),
            .init("problem", "Access (alone)", of: AccessProblem.allCases.map(\.name)),
        ], list: .subscriptions, picks: [.replaySubscription]
    ) { items, visit in table(items, visit) }

    static func list(_ visit: ConsoleVisit) async throws -> Response {
        var list = subscriptions
        if visit.query["problem"] != nil { list.list = .accessProblems }
        let found = try await list.read(visit)
        if found.items.count == 1, let one = found.items.first, visit.query["originalTransactionId"] != nil {
            return visit.response(detail(one, visit))
        }
        return visit.response(
            list.page(found, visit, choices: ["parked": [(value: "true", title: "parked")]]))
    }

    private static func detail(_ one: OpsSubscription, _ visit: ConsoleVisit) -> DetailPage {
        let columns = OpsSubscription.columns(
            "customerEmail", "validationId", "publisher", "environment", "offerId", "productId", "autoRenewProductId",
            "bundleId", "offerIdentifier", "offerType", "offerDiscountType", "willRenew", "expiresAt", "reason",
            "nextLookAt", "trouble")
        return DetailPage(
            visit.frame("Subscription \(one.name.originalTransactionID)", at: .subscriptions, live: 10),
            state: one.status?.name ?? "not known", tone: tone(one.status),
            lead: (one.email.map { "It belongs to \($0)." } ?? "Nobody has claimed it.")
                + (one.parkedAt.map { " It is parked since \(ConsoleText.time($0))." } ?? ""),
            actions: visit.isOperator
                ? [
                    .init(
                        ConsoleAction.replaySubscription.form.button,
                        href: ConsoleAction.replaySubscription.path("\(SubscriptionCursor(one.name))")),
                    .init(
                        ConsoleAction.lookUpRefunds.form.button,
                        href: ConsoleAction.lookUpRefunds.path("\(SubscriptionCursor(one.name))")),
                ] : [],
            facts: columns.map { field in
                let href: String? =
                    switch field.name {
                    case "customerEmail": one.email.map(ConsoleLink.customer)
                    case "validationId": one.validation.map(ConsoleLink.validation)
                    default: nil
                    }
                return .init(field.label, field.text(one) { ConsoleText.time($0) }, href: href)
            },
            sections: [.init("Life, oldest first", table: life(one))])
    }

    private static func life(_ one: OpsSubscription) -> Table {
        Table(
            one.timeline,
            OpsSubscription.Entry.columns("at", "event", "status", "expiresAt", "validationId", "detail"),
            empty: "Nothing is written of it."
        ) { name, entry, text in
            switch name {
            case "status": .init(text, tone: tone(entry.status))
            case "validationId": .init(text, href: entry.validation.map(ConsoleLink.validation), isCode: true)
            default: .init(text)
            }
        }
    }

    /// - Parameter visit: the visitor, who may select rows; nil makes no row selectable.
    static func table(_ items: [OpsSubscription], _ visit: ConsoleVisit? = nil) -> Table {
        Table(
            items,
            OpsSubscription.columns(
                "originalTransactionId", "status", "customerEmail", "productId", "expiresAt", "willRenew",
                "environment", "publisher"), empty: "No subscription is like that."
        ) { name, one, text in
            switch name {
            case "originalTransactionId":
                .init(
                    text, href: ConsoleLink.subscription(one.name.originalTransactionID), isCode: true, note: note(one),
                    pick: visit?.isOperator == true ? "\(SubscriptionCursor(one.name))" : nil)
            case "status": .init(text, tone: tone(one.status), note: one.reason)
            case "customerEmail": .init(text, href: one.email.map(ConsoleLink.customer))
            default: .init(text)
            }
        }
    }

    /// Text about a problem of the subscription; nil if there is none.
    private static func note(_ one: OpsSubscription) -> String? {
        let wrong = [one.problem?.name, one.parkedAt == nil ? nil : "parked"].compactMap(\.self)
        guard !wrong.isEmpty else { return nil }
        return ([wrong.joined(separator: ", ")] + [one.trouble].compactMap(\.self)).joined(separator: ": ")
    }

    private static func tone(_ status: SubscriptionState.Status?) -> Tone? {
        switch status {
        case .active: .ok
        case .inGrace, .inBillingRetry: .warning
        case .expired, .revoked: .quiet
        case nil: nil
        }
    }

    // MARK: Transfers

    static let transfers = ConsoleList<OpsTransfer>(
        section: .transfers, path: Section.transfers.path, title: "Transfers",
        lead:
            "Subscriptions that passed from one email to another, newest first. Each was one transaction: the old owner's access ended as the new one's began.",
        filters: [
            .init("originalTransactionId", "Original transaction"), .init("customerEmail", "Email on either side"),
        ], list: .transfers, file: "transfers"
    ) { items, _ in table(items) }

    static func table(_ items: [OpsTransfer]) -> Table {
        Table(
            items,
            OpsTransfer.columns("at", "originalTransactionId", "from", "to", "fromValidationId", "toValidationId"),
            empty: "No subscription has passed on."
        ) { name, one, text in
            switch name {
            case "originalTransactionId":
                .init(
                    text, href: ConsoleLink.subscription(one.name.originalTransactionID), isCode: true,
                    note: "\(one.name.environment), \(one.name.publisher)")
            case "from": .init(text, href: ConsoleLink.customer(one.from))
            case "to": .init(text, href: ConsoleLink.customer(one.to))
            case "fromValidationId": .init(text, href: ConsoleLink.validation(one.fromValidation), isCode: true)
            case "toValidationId": .init(text, href: ConsoleLink.validation(one.toValidation), isCode: true)
            default: .init(text)
            }
        }
    }
}
