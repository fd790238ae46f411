import ConsolePages
import Formats
import Hummingbird
import RelayCore
import RelayStore

/// Orders, keys, and who did what.
enum RecordViews {
    static func orders(
        _ desk: ConsoleDesk, _ request: Request, _ context: FrontContext, _ visitor: ConsoleDesk.Visitor
    ) async throws -> Response {
        let (query, path) = (ConsoleQuery(request), Section.orders.path)
        let publishers = try await desk.store.listPublishers(in: visitor.scope).map(\.id)
        let publisher = PublisherID(query["publisher"]) ?? visitor.scope.publisher ?? .first
        let after = query["cursor"].flatMap { BillingID($0) }
        let (items, next) = try await desk.store.newestOrders(of: publisher, after: after, in: visitor.scope)
        return desk.response(
            ListPage(
                desk.frame("Orders of \(publisher)", visitor, at: .orders), lead: "Newest first, of one publisher.",
                filters: [
                    .init(
                        "publisher", "Publisher", value: publisher.text,
                        of: publishers.map { (value: $0.text, title: $0.text) })
                ],
                table: Table(
                    ["Order", "State", "Type", "Made", "Completed", "Product", "Customer", "Contract"],
                    items.map { one in
                        [
                            .init("\(one.id)", isCode: true),
                            .init(one.state.name, tone: one.state == .completed ? .ok : .link), .init(one.type.name),
                            .init(ConsoleText.time(one.createdAt)), .init(ConsoleText.time(one.completedAt)),
                            .init(one.productID?.text, note: one.platform.rawValue),
                            .init("\(one.customer)", isCode: true),
                            .init("\(one.contract)", isCode: true),
                        ]
                    }, empty: "This publisher has placed no order."), here: path,
                first: after == nil ? nil : path + "?publisher=" + publisher.text.percentEncoded,
                next: ConsoleLink.page(path, [("publisher", publisher.text)], cursor: next)))
    }

    static func keys(
        _ desk: ConsoleDesk, _ request: Request, _ context: FrontContext, _ visitor: ConsoleDesk.Visitor
    ) async throws -> Response {
        var frame = desk.frame("Keys", visitor, at: .keys)
        frame.notice = ConsoleAction.notice(ConsoleQuery(request)["done"])
        let rows = try await desk.store.keys(includingRevoked: true, in: visitor.scope).reversed().map {
            one -> [Table.Cell] in
            let revoke = visitor.isOperator && one.revokedAt == nil ? ConsoleAction.revokeKey.path(one.id.text) : nil
            return [
                .init(
                    one.id.text, isCode: true,
                    note: one.id == visitor.session.key.id ? "you are signed in with it" : nil),
                .init(one.name), .init(one.role.name), .init(one.scopeText),
                .init(one.app.text), .init(ConsoleText.time(one.createdAt)),
                one.revokedAt == nil
                    ? .init("in use", tone: .ok)
                    : .init("revoked", tone: .quiet, note: ConsoleText.time(one.revokedAt)),
                revoke.map { .init("Revoke", href: $0) } ?? .init(nil),
            ]
        }
        return desk.response(
            ListPage(
                frame, lead: "Newest first; never the secrets. The command receipt-relay keys create makes one.",
                table: Table(
                    ["Key", "Name", "Role", "Publisher", "App", "Made", "State", "Revoke"], rows,
                    empty: "There is no key."), here: Section.keys.path))
    }

    static func audit(
        _ desk: ConsoleDesk, _ request: Request, _ context: FrontContext, _ visitor: ConsoleDesk.Visitor
    ) async throws -> Response {
        let (query, path) = (ConsoleQuery(request), Section.audit.path)
        let actions = AuditEntry.Action.allCases
        let names = ["action", "actor", "target"]
        func read(_ items: QueryItems) async throws -> ([AuditRecord], AuditCursor?) {
            var page = PageQuery(items)
            let filter = AuditFilter(
                action: page.choice("action", actions.map { ($0.rawValue, $0) }), actor: query["actor"],
                target: query["target"], limit: page.limit(), cursor: page.cursor { AuditCursor($0) })
            try page.end()
            return try await desk.store.auditLog(matching: filter, in: visitor.scope)
        }
        if ConsoleExport.isWanted(query) {
            return try await ConsoleExport.response("audit-log", query.all(names)) {
                let (items, next) = try await read($0)
                return (table(items), items.count, next?.description)
            }
        }
        var (items, next): ([AuditRecord], AuditCursor?) = ([], nil)
        let wrong = try await query.reading { (items, next) = try await read($0) }
        return desk.response(
            ListPage(
                desk.frame("Audit log", visitor, at: .audit), lead: "Who did what by hand, newest first.",
                filters: [
                    .init(
                        names[0], "Action", value: query[names[0]],
                        of: actions.map { (value: $0.rawValue, title: $0.rawValue) }),
                    .init(names[1], "Who (part of the name)", value: query[names[1]]),
                    .init(names[2], "To what (exactly)", value: query[names[2]]),
                ], wrong: wrong, table: table(items), here: path, first: query["cursor"] == nil ? nil : path,
                next: ConsoleLink.page(path, query.all(names), cursor: next),
                export: ConsoleExport.path(path, query.all(names))))
    }

    private static func table(_ items: [AuditRecord]) -> Table {
        Table(
            ["At", "Who", "Action", "To what", "Why"],
            items.map { one in
                let id = ValidationID(one.target.value)
                return [
                    .init(ConsoleText.time(one.at)), .init(one.actor), .init(one.action),
                    .init(one.target.value, href: id.map(ConsoleLink.validation), isCode: true),
                    .init(one.reason?.value),
                ]
            }, empty: "Nothing is written that is like that.")
    }
}
