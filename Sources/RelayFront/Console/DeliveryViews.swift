import ConsolePages
import Hummingbird
import RelayCore
import RelayStore

/// What is passed on: the App Store's notifications to Cleeng, messages to publishers' endpoints.
enum DeliveryViews {
    static func notifications(
        _ desk: ConsoleDesk, _ request: Request, _ context: FrontContext, _ visitor: ConsoleDesk.Visitor
    ) async throws -> Response {
        let (query, path) = (ConsoleQuery(request), Section.notifications.path)
        let statuses = OpsNotification.RelayStatus.allCases
        let names = ["status", "originalTransactionId"]
        func read(_ query: QueryItems) async throws -> ([OpsNotification], ValidationCursor?) {
            var page = PageQuery(query)
            let filter = NotificationFilter(
                relay: page.choice("status", statuses.map { ($0.name, $0) }),
                originalTransactionID: page.originalTransactionID(), limit: page.limit(),
                cursor: page.cursor { ValidationCursor($0) })
            try page.end()
            return try await desk.store.notifications(matching: filter, in: visitor.scope)
        }
        if ConsoleExport.isWanted(query) {
            return try await ConsoleExport.response("notifications", query.all(names)) {
                let (items, next) = try await read($0)
                return (table(items, visitor), items.count, next?.description)
            }
        }
        var (items, next): ([OpsNotification], ValidationCursor?) = ([], nil)
        let wrong = try await query.reading { (items, next) = try await read($0) }
        var frame = desk.frame("Notifications", visitor, at: .notifications, live: query["cursor"] == nil ? 5 : nil)
        frame.notice = ConsoleAction.notice(query["done"])
        return desk.response(
            ListPage(
                frame,
                lead: "What the App Store told of subscriptions, newest first, and how far each has come to Cleeng.",
                filters: [
                    .init(
                        names[0], "On to Cleeng", value: query[names[0]],
                        of: statuses.map { (value: $0.name, title: $0.name) }),
                    .init(names[1], "Original transaction", value: query[names[1]]),
                ], wrong: wrong, table: table(items, visitor), here: path, first: query["cursor"] == nil ? nil : path,
                next: ConsoleLink.page(path, query.all(names), cursor: next),
                export: ConsoleExport.path(path, query.all(names)),
                picks: ConsoleSelection.picks([.replayNotification], visitor)))
    }

    private static func table(_ items: [OpsNotification], _ visitor: ConsoleDesk.Visitor) -> Table {
        Table(
            ["Received", "Type", "Original transaction", "On to Cleeng", "Tries", "Last error", "Replay"],
            items.map { row($0, visitor) }, empty: "No notification is like that.")
    }

    private static func row(_ one: OpsNotification, _ visitor: ConsoleDesk.Visitor) -> [Table.Cell] {
        let tone: Tone =
            one.relay == .delivered ? .ok : one.relay == .parked ? .critical : one.lastError == nil ? .quiet : .warning
        let type = [one.type, one.subtype].compactMap(\.self).joined(separator: ", ")
        let replay = visitor.isOperator ? ConsoleAction.replayNotification.path("\(one.id)") : nil
        return [
            .init(
                ConsoleText.time(one.receivedAt), note: "said \(ConsoleText.time(one.signedAt))",
                pick: visitor.isOperator ? "\(one.id)" : nil),
            .init(type, note: "version \(one.version), \(one.environment), \(one.publisher)"),
            .init(
                one.originalTransactionID?.text, href: one.originalTransactionID.map(ConsoleLink.subscription),
                isCode: true),
            .init(one.relay.name, tone: tone, note: ConsoleText.time(one.relayedAt)), .init("\(one.attempts)"),
            .init(one.lastError), replay.map { .init("Replay", href: $0) } ?? .init(nil),
        ]
    }

    // MARK: Webhooks

    static func webhooks(
        _ desk: ConsoleDesk, _ request: Request, _ context: FrontContext, _ visitor: ConsoleDesk.Visitor
    ) async throws -> Response {
        let (query, path) = (ConsoleQuery(request), Section.webhooks.path)
        let names = ["state", "endpoint", "applicationUsername"]
        func read(_ query: QueryItems) async throws -> ([OpsDelivery], ValidationCursor?) {
            var page = PageQuery(query)
            let filter = DeliveryFilter(
                state: page.choice("state", DeliveryState.allCases.map { ($0.name, $0) }), endpoint: page.endpoint(),
                applicationUsername: Username(page.applicationUsername()), limit: page.limit(),
                cursor: page.cursor { ValidationCursor($0) })
            try page.end()
            return try await desk.store.deliveries(matching: filter, in: visitor.scope)
        }
        if ConsoleExport.isWanted(query) {
            return try await ConsoleExport.response("webhooks", query.all(names)) {
                let (items, next) = try await read($0)
                return (table(items, visitor), items.count, next?.description)
            }
        }
        var (items, next): ([OpsDelivery], ValidationCursor?) = ([], nil)
        let wrong = try await query.reading { (items, next) = try await read($0) }
        var frame = desk.frame("Webhooks", visitor, at: .webhooks, live: query["cursor"] == nil ? 5 : nil)
        frame.notice = ConsoleAction.notice(query["done"])
        let endpoints = try await desk.store.endpoints(in: visitor.scope)
        return desk.response(
            ListPage(
                frame,
                lead:
                    "Messages to publishers' endpoints, newest first. \(endpoints.count) endpoints, \(endpoints.count { !$0.isActive }) of them disabled.",
                filters: [
                    .init(
                        names[0], "State", value: query[names[0]],
                        of: DeliveryState.allCases.map { (value: $0.name, title: $0.name) }),
                    .init(
                        names[1], "Endpoint", value: query[names[1]],
                        of: endpoints.map { (value: "\($0.id)", title: "\($0.publisher): \($0.url)") }),
                    .init(names[2], "Application username", value: query[names[2]]),
                ], wrong: wrong, table: table(items, visitor), here: path, first: query["cursor"] == nil ? nil : path,
                next: ConsoleLink.page(path, query.all(names), cursor: next),
                export: ConsoleExport.path(path, query.all(names)),
                picks: ConsoleSelection.picks([.replayWebhook], visitor)))
    }

    private static func table(_ items: [OpsDelivery], _ visitor: ConsoleDesk.Visitor) -> Table {
        Table(
            ["Made", "Customer", "State", "Tries", "Last answer", "Endpoint", "Replay"],
            items.map { row($0, visitor) }, empty: "No message is like that.")
    }

    private static func row(_ one: OpsDelivery, _ visitor: ConsoleDesk.Visitor) -> [Table.Cell] {
        let tone: Tone =
            switch one.state {
            case .delivered: .ok
            case .waiting: one.lastError == nil ? .link : .warning
            case .failed, .dropped, .parked: .critical
            case .replaced: .quiet
            }
        let next = one.nextTryAt.map { "next try \(ConsoleText.time($0))" }
        let answer = [one.lastStatus.map { "HTTP \($0)" }, one.lastError].compactMap(\.self).joined(separator: ", ")
        let replay = visitor.isOperator ? ConsoleAction.replayWebhook.path("\(one.id)") : nil
        return [
            .init(
                ConsoleText.time(one.createdAt), note: "\(one.id)", pick: visitor.isOperator ? "\(one.id)" : nil),
            .init(
                one.applicationUsername.text, href: ConsoleLink.customer(one.applicationUsername),
                note: one.publisher.text),
            .init(one.state.name, tone: tone, note: next ?? ConsoleText.time(one.finishedAt)), .init("\(one.tries)"),
            .init(answer), .init(one.url, href: "/console/endpoints"),
            replay.map { .init("Replay", href: $0) } ?? .init(nil),
        ]
    }

    static func endpoints(
        _ desk: ConsoleDesk, _ request: Request, _ context: FrontContext, _ visitor: ConsoleDesk.Visitor
    ) async throws -> Response {
        var frame = desk.frame("Webhook endpoints", visitor, at: .webhooks, live: 10)
        frame.notice = ConsoleAction.notice(ConsoleQuery(request)["done"])
        let rows = try await desk.store.endpoints(in: visitor.scope).map { one -> [Table.Cell] in
            let state: (String, Tone) =
                one.isActive
                ? one.failingSince == nil ? ("active", .ok) : ("failing", .warning) : ("disabled", .critical)
            let since = one.failingSince ?? one.disabledAt
            let enable = visitor.isOperator && !one.isActive ? ConsoleAction.enableEndpoint.path("\(one.id)") : nil
            return [
                .init(one.url, note: "\(one.id)"), .init(one.publisher.text),
                .init(
                    state.0, tone: state.1,
                    note: [one.disabledReason, since.map { "since \(ConsoleText.time($0))" }].compactMap(\.self)
                        .joined(separator: ", ")), .init(one.environment.name),
                .init(one.kind == .purchases ? "purchases" : "events by id"),
                .init(ConsoleText.time(one.lastSuccessAt)),
                .init("Messages", href: "\(Section.webhooks.path)?endpoint=\(one.id)"),
                enable.map { .init("Enable", href: $0) } ?? .init(nil),
            ]
        }
        return desk.response(
            ListPage(
                frame, lead: "Where publishers' back ends are told of changes.",
                table: Table(
                    ["Address", "Publisher", "State", "Environment", "Told of", "Last success", "Messages", "Enable"],
                    rows, empty: "There is no endpoint: the command receipt-relay webhooks add makes one."),
                here: "/console/endpoints"))
    }
}
