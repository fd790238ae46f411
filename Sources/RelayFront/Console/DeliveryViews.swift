import ConsolePages
import Hummingbird
import Operations
import RelayCore
import RelayStore

/// What comes from Cleeng and the App Store, and what is passed on.
enum DeliveryViews {
    static let notifications = ConsoleList<OpsNotification>(
        section: .notifications, path: Section.notifications.path, title: "Notifications",
        lead: "What the App Store told of subscriptions, newest first, and how far each has come to Cleeng.",
        filters: [
            .init("status", "On to Cleeng", of: OpsNotification.RelayStatus.allCases.map(\.name)),
            .init("originalTransactionId", "Original transaction"),
        ], list: .notifications, picks: [.replayNotification], file: "notifications", live: 5
    ) { items, _, visitor in
        let columns = OpsNotification.columns(
            "receivedAt", "type", "originalTransactionId", "relay", "attempts", "lastError")
        return Table(
            items, columns, labels: ["relay": "On to Cleeng"], empty: "No notification is like that.",
            acts: replay(.replayNotification, visitor) { "\($0.id)" }
        ) { name, one, text in
            switch name {
            case "receivedAt":
                .init(text, note: "said \(ConsoleText.time(one.signedAt))", pick: pick("\(one.id)", visitor))
            case "type":
                .init(
                    [one.type, one.subtype].compactMap(\.self).joined(separator: ", "),
                    note: "version \(one.version), \(one.environment), \(one.publisher)")
            case "originalTransactionId":
                .init(text, href: one.originalTransactionID.map(ConsoleLink.subscription), isCode: true)
            case "relay": .init(text, tone: tone(one), note: ConsoleText.time(one.relayedAt))
            default: .init(text)
            }
        }
    }

    static let events = ConsoleList<OpsEvent>(
        section: .events, path: Section.events.path, title: "Events",
        lead: "What Cleeng sent of its own accord, newest first, and what came of it.",
        filters: [.init("status", "Status", of: OpsEvent.Status.allCases.map(\.rawValue))], list: .events,
        picks: [.replayEvent], file: "events", live: 5
    ) { items, _, visitor in
        let columns = OpsEvent.columns("receivedAt", "topic", "status", "attempts", "outcome", "lastError")
        return Table(
            items, columns, empty: "No event is like that.", acts: replay(.replayEvent, visitor) { "\($0.id)" }
        ) { name, one, text in
            switch name {
            case "receivedAt": .init(text, note: "\(one.id)", pick: pick("\(one.id)", visitor))
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
    ) { items, _, visitor in
        let columns = OpsDelivery.columns("createdAt", "applicationUsername", "state", "tries", "lastStatus", "url")
        return Table(
            items, columns, labels: ["lastStatus": "Last answer", "url": "Endpoint"], empty: "No message is like that.",
            acts: replay(.replayWebhook, visitor) { "\($0.id)" }
        ) { name, one, text in
            switch name {
            case "createdAt": .init(text, note: "\(one.id)", pick: pick("\(one.id)", visitor))
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

    static func webhooks(
        _ desk: ConsoleDesk, _ request: Request, _ context: FrontContext, _ visitor: ConsoleDesk.Visitor
    ) async throws -> Response {
        let query = ConsoleQuery(request)
        if let file = try await messages.file(desk, query, visitor) { return file }
        let found = try await messages.read(desk, query, visitor)
        let endpoints = try await desk.store.endpoints(in: visitor.scope)
        var list = messages
        list.lead =
            "Messages to publishers' endpoints, newest first. \(endpoints.count) endpoints, \(endpoints.count { !$0.isActive }) of them disabled."
        let choices = endpoints.map { (value: "\($0.id)", title: "\($0.publisher): \($0.url)") }
        return desk.response(
            list.page(
                found, list.frame(desk, query, visitor), desk, query, visitor, choices: ["endpoint": choices]))
    }

    static func endpoints(
        _ desk: ConsoleDesk, _ request: Request, _ context: FrontContext, _ visitor: ConsoleDesk.Visitor
    ) async throws -> Response {
        var frame = desk.frame("Webhook endpoints", visitor, at: .webhooks, live: 10)
        frame.notice = ConsoleAction.notice(ConsoleQuery(request)["done"])
        let columns = WebhookEndpoint.columns(
            "url", "publisher", "state", "environment", "events", "lastSuccessAt", "id")
        let table = Table(
            try await desk.store.endpoints(in: visitor.scope), columns, labels: ["url": "Address", "id": "Messages"],
            empty: "There is no endpoint: the command receipt-relay webhooks add makes one.",
            acts: (
                "Enable",
                { one in
                    guard visitor.isOperator else { return nil }
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
        return desk.response(
            ListPage(
                frame, lead: "Where publishers' back ends are told of changes.", table: table,
                here: "/console/endpoints"))
    }

    private static func state(_ one: WebhookEndpoint) -> Table.Cell {
        let since = (one.failingSince ?? one.disabledAt).map { "since \(ConsoleText.time($0))" }
        let note = [one.disabledReason, since].compactMap(\.self).joined(separator: ", ")
        guard one.isActive else { return .init("disabled", tone: .critical, note: note) }
        return one.failingSince == nil
            ? .init("active", tone: .ok, note: note) : .init("failing", tone: .warning, note: note)
    }

    // MARK: How they stand

    private static func tone(_ one: OpsNotification) -> Tone {
        switch one.relay {
        case .delivered: .ok
        case .parked: .critical
        case .off, .pending: one.lastError == nil ? .quiet : .warning
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

    private static func pick(_ id: String, _ visitor: ConsoleDesk.Visitor?) -> String? {
        visitor?.isOperator == true ? id : nil
    }

    private static func replay<Item>(
        _ action: ConsoleAction, _ visitor: ConsoleDesk.Visitor?, _ id: @escaping (Item) -> String
    ) -> (label: String, href: (Item) -> (title: String, href: String)?) {
        ("Replay", { visitor?.isOperator == true ? (title: "Replay", href: action.path(id($0))) : nil })
    }
}
