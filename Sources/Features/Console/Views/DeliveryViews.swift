import Hummingbird
import Relay
import RelayCore

/// Pages of messages: from Cleeng and the stores, and to publishers.
enum DeliveryViews {
    static let notifications = ConsoleList<OpsNotification>(
        section: .notifications, path: Section.notifications.path, title: "Notifications",
        lead:
            "Notifications from stores about subscriptions, newest first. The App Store's are passed on to Cleeng. A test notification shows whether the App Store reaches this relay.",
        links: ConsoleAction.tests + [.init("Requests about refunds", href: "/console/consumption")],
        filters: [
            .init("status", "On to Cleeng", of: OpsNotification.RelayStatus.allCases.map(\.name)),
            .init("originalTransactionId", "Original transaction"),
        ], list: .notifications, picks: [.replayNotification], file: "notifications", live: 5
    ) { items, visit in
        let columns = OpsNotification.columns(
            "receivedAt", "type", "originalTransactionId", "relay", "attempts", "lastError")
        return Table(
            items, columns, labels: ["relay": "On to Cleeng"], empty: "No notification is like that.",
            acts: (
                "Act",
                { one in
                    guard visit?.isOperator == true else { return nil }
                    if one.type == "TEST", one.store == StorePlatform.apple.rawValue {
                        let app = one.bundleID.map { "-\($0)" } ?? ""
                        let action = ConsoleAction.testNotification
                        return (title: action.form.button, href: action.path("\(one.environment)\(app)"))
                    }
                    let action: ConsoleAction = one.asksConfirmation ? .confirmTopic : .replayNotification
                    return (title: action.form.button, href: action.path("\(one.id)"))
                }
            )
        ) { name, one, text in
            switch name {
            case "receivedAt":
                .init(text, note: "said \(ConsoleText.time(one.signedAt))", pick: pick("\(one.id)", visit))
            case "type":
                .init(
                    [one.type, one.subtype].compactMap(\.self).joined(separator: ", "),
                    tone: one.isUnderstood ? nil : .warning,
                    note: one.isUnderstood
                        ? "version \(one.version), \(one.environment), \(one.publisher)"
                        : "version \(one.version), not understood: replay it after an upgrade")
            case "originalTransactionId":
                .init(text, href: one.originalTransactionID.map(ConsoleLink.subscription), isCode: true)
            case "relay": .init(text, tone: tone(one), note: ConsoleText.time(one.relayedAt))
            default: .init(text)
            }
        }
    }

    static let consumption = ConsoleList<OpsConsumption>(
        section: .notifications, path: "/console/consumption", title: "Requests about refunds",
        lead:
            "Customers who want money back: Apple asks how the purchase was used, and wants an answer within twelve hours. Without the customer's consent, which the publisher gives, none is sent.",
        filters: [
            .init("state", "State", of: ConsumptionState.allCases.map(\.name)),
            .init("originalTransactionId", "Original transaction"),
        ], list: .consumption, file: "consumption", live: 10
    ) { items, _ in
        let columns = OpsConsumption.columns(
            "askedAt", "state", "originalTransactionId", "applicationUsername", "reason", "deadline", "answer")
        return Table(items, columns, empty: "Apple has asked about no purchase.") { name, one, text in
            switch name {
            case "askedAt": .init(text, note: "\(one.environment), \(one.publisher)")
            case "state":
                .init(
                    text, tone: tone(one),
                    note: one.lastError ?? one.nextTryAt.map { "next look \(ConsoleText.time($0))" })
            case "originalTransactionId":
                .init(
                    text, href: ConsoleLink.subscription(one.originalTransactionID), isCode: true,
                    note: one.transactionID.text)
            case "applicationUsername":
                .init(
                    text, href: one.applicationUsername.map(ConsoleLink.customer),
                    note: one.boughtAt.map { "since \(ConsoleText.time($0))" })
            case "answer": .init(text, isCode: text != nil)
            default: .init(text)
            }
        }
    }

    static let events = ConsoleList<OpsEvent>(
        section: .events, path: Section.events.path, title: "Events",
        lead: "What Cleeng sent of its own accord, newest first, and what came of it.",
        filters: [.init("status", "Status", of: OpsEvent.Status.allCases.map(\.rawValue))], list: .events,
        picks: [.replayEvent], file: "events", live: 5
    ) { items, visit in
        let columns = OpsEvent.columns("receivedAt", "topic", "status", "attempts", "outcome", "lastError")
        return Table(
            items, columns, empty: "No event is like that.", acts: replay(.replayEvent, visit) { "\($0.id)" }
        ) { name, one, text in
            switch name {
            case "receivedAt": .init(text, note: "\(one.id)", pick: pick("\(one.id)", visit))
            case "topic": .init(text, note: one.account?.text)
            case "status":
                .init(
                    text, tone: tone(one),
                    note: one.parkedAt.map { "since \(ConsoleText.time($0))" }
                        ?? one.nextTryAt.map { "next try \(ConsoleText.time($0))" })
            default: .init(text)
            }
        }
    }

    // MARK: Webhooks

    private static let messages = ConsoleList<OpsDelivery>(
        section: .webhooks, path: Section.webhooks.path, title: "Webhooks",
        filters: [
            .init("state", "State", of: DeliveryState.allCases.map(\.name)), .init("endpoint", "Endpoint"),
            .init("applicationUsername", "Application username"),
        ], list: .messages, picks: [.replayWebhook], file: "webhooks", live: 5
    ) { items, visit in
        let columns = OpsDelivery.columns("createdAt", "applicationUsername", "state", "tries", "lastStatus", "url")
        return Table(
            items, columns, labels: ["lastStatus": "Last answer", "url": "Endpoint"], empty: "No message is like that.",
            acts: replay(.replayWebhook, visit) { "\($0.id)" }
        ) { name, one, text in
            switch name {
            case "createdAt": .init(text, note: "\(one.id)", pick: pick("\(one.id)", visit))
            case "applicationUsername":
                .init(text, href: ConsoleLink.customer(one.applicationUsername), note: one.publisher.text)
            case "state":
                .init(
                    text, tone: tone(one),
                    note: one.nextTryAt.map { "next try \(ConsoleText.time($0))" } ?? ConsoleText.time(one.finishedAt))
            case "lastStatus":
                .init([one.lastStatus.map { "HTTP \($0)" }, one.lastError].compactMap(\.self).joined(separator: ", "))
            case "url": .init(text, href: "/console/endpoints")
            default: .init(text)
            }
        }
    }

    static func webhooks(_ visit: ConsoleVisit) async throws -> Response {
        if let file = try await messages.file(visit) { return file }
        let found = try await messages.read(visit)
        let endpoints = try await visit.store.webhooks.endpoints(in: visit.scope)
        var list = messages
        list.lead =
            "Messages to publishers' endpoints, newest first. \(endpoints.count) endpoints, \(endpoints.count { !$0.isActive }) of them disabled."
        let choices = endpoints.map { (value: "\($0.id)", title: "\($0.publisher): \($0.url)") }
        return visit.response(list.page(found, visit, choices: ["endpoint": choices]))
    }

    static func endpoints(_ visit: ConsoleVisit) async throws -> Response {
        let columns = WebhookEndpoint.columns(
            "url", "publisher", "state", "environment", "events", "lastSuccessAt", "id")
        let table = Table(
            try await visit.store.webhooks.endpoints(in: visit.scope), columns,
            labels: ["url": "Address", "id": "Messages"],
            empty: "There is no endpoint: the command receipt-relay webhooks add makes one.",
            acts: (
                "Enable",
                { one in
                    guard visit.isOperator else { return nil }
                    let action: ConsoleAction = one.isActive ? .disableEndpoint : .enableEndpoint
                    return (title: action.form.button, href: action.path("\(one.id)"))
                }
            )
        ) { name, one, text in
            switch name {
            case "url": .init(text, note: "\(one.id)")
            case "state": state(one)
            case "id": .init("Messages", href: "\(Section.webhooks.path)?endpoint=\(one.id)")
            default: .init(text)
            }
        }
        return visit.response(
            ListPage(
                visit.frame("Webhook endpoints", at: .webhooks, live: 10),
                lead: "Endpoints that receive changes of purchases.", table: table, here: "/console/endpoints"))
    }

    private static func state(_ one: WebhookEndpoint) -> Table.Cell {
        let since = (one.failingSince ?? one.disabledAt).map { "since \(ConsoleText.time($0))" }
        let note = [one.disabledReason, since].compactMap(\.self).joined(separator: ", ")
        guard one.isActive else { return .init("disabled", tone: .critical, note: note) }
        return one.failingSince == nil
            ? .init("active", tone: .ok, note: note) : .init("failing", tone: .warning, note: note)
    }

    // MARK: Tones

    private static func tone(_ one: OpsNotification) -> Tone {
        switch one.relay {
        case .delivered: .ok
        case .parked: .critical
        case .off, .pending: one.lastError == nil ? .quiet : .warning
        }
    }

    private static func tone(_ one: OpsConsumption) -> Tone {
        guard one.parkedAt == nil else { return .critical }
        return switch one.state {
        case .waiting: one.lastError == nil ? .link : .warning
        case .awaitsConsent, .noConsent: .quiet
        case .answered: .ok
        case .refused, .expired: .critical
        }
    }

    private static func tone(_ one: OpsEvent) -> Tone {
        switch one.status {
        case .handled: .ok
        case .pending: one.lastError == nil ? .link : .warning
        case .parked: .critical
        }
    }

    private static func tone(_ one: OpsDelivery) -> Tone {
        switch one.state {
        case .delivered: .ok
        case .waiting: one.lastError == nil ? .link : .warning
        case .failed, .dropped, .parked: .critical
        case .replaced: .quiet
        }
    }

    private static func pick(_ id: String, _ visit: ConsoleVisit?) -> String? {
        visit?.isOperator == true ? id : nil
    }

    private static func replay<Item>(
        _ action: ConsoleAction, _ visit: ConsoleVisit?, _ id: @escaping (Item) -> String
    ) -> (label: String, href: (Item) -> (title: String, href: String)?) {
        ("Replay", { visit?.isOperator == true ? (title: "Replay", href: action.path(id($0))) : nil })
    }
}
