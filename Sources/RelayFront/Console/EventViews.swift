import ConsolePages
import Hummingbird
import RelayCore
import RelayStore

/// Cleeng's events, and what came of each.
enum EventViews {
    static func list(
        _ desk: ConsoleDesk, _ request: Request, _ context: FrontContext, _ visitor: ConsoleDesk.Visitor
    ) async throws -> Response {
        let (query, path) = (ConsoleQuery(request), Section.events.path)
        func read(_ query: QueryItems) async throws -> ([OpsEvent], ValidationCursor?) {
            var page = PageQuery(query)
            let filter = EventOpsRoutes.filter(&page)
            try page.end()
            return try await desk.store.events(matching: filter, in: visitor.scope)
        }
        if ConsoleExport.isWanted(query) {
            return try await ConsoleExport.response("events", query.all(["status"])) {
                let (items, next) = try await read($0)
                return (table(items, visitor), items.count, next?.description)
            }
        }
        var (items, next): ([OpsEvent], ValidationCursor?) = ([], nil)
        let wrong = try await query.reading { (items, next) = try await read($0) }
        var frame = desk.frame("Events", visitor, at: .events, live: query["cursor"] == nil ? 5 : nil)
        frame.notice = ConsoleAction.notice(query["done"])
        return desk.response(
            ListPage(
                frame, lead: "What Cleeng sent of its own accord, newest first, and what came of it.",
                filters: [
                    .init(
                        "status", "Status", value: query["status"],
                        of: OpsEvent.Status.allCases.map { (value: $0.rawValue, title: $0.rawValue) })
                ], wrong: wrong, table: table(items, visitor), here: path, first: query["cursor"] == nil ? nil : path,
                next: ConsoleLink.page(path, query.all(["status"]), cursor: next),
                export: ConsoleExport.path(path, query.all(["status"])),
                picks: ConsoleSelection.picks([.replayEvent], visitor)))
    }

    private static func table(_ items: [OpsEvent], _ visitor: ConsoleDesk.Visitor) -> Table {
        Table(
            ["Received", "Topic", "Status", "Tries", "Outcome", "Last error", "Replay"],
            items.map { row($0, visitor) }, empty: "No event is like that.")
    }

    private static func row(_ one: OpsEvent, _ visitor: ConsoleDesk.Visitor) -> [Table.Cell] {
        let tone: Tone =
            switch one.status {
            case .handled: .ok
            case .pending: one.lastError == nil ? .link : .warning
            case .parked: .critical
            }
        let note =
            one.parkedAt.map { "since \(ConsoleText.time($0))" }
            ?? one.nextTryAt.map { "next try \(ConsoleText.time($0))" }
        return [
            .init(
                ConsoleText.time(one.receivedAt), note: "\(one.id)", pick: visitor.isOperator ? "\(one.id)" : nil),
            .init(one.topic, note: one.account?.text), .init(one.status.rawValue, tone: tone, note: note),
            .init("\(one.attempts)"), .init(one.outcome), .init(one.lastError),
            visitor.isOperator
                ? .init("Replay", href: ConsoleAction.replayEvent.path("\(one.id)")) : .init(nil),
        ]
    }
}
