import ConsolePages
import Formats
import Hummingbird
import Operations
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
        let keys = Array(try await desk.store.keys(includingRevoked: true, in: visitor.scope).reversed())
        let table = Table(
            keys, APIKey.columns("id", "name", "role", "publisher", "app", "createdAt", "revokedAt"),
            labels: ["id": "Key", "createdAt": "Made", "revokedAt": "State"], empty: "There is no key.",
            acts: (
                "Revoke",
                { one in
                    guard visitor.isOperator, one.revokedAt == nil else { return nil }
                    return (title: "Revoke", href: ConsoleAction.revokeKey.path(one.id.text))
                }
            )
        ) { name, one, text in
            switch name {
            case "id":
                .init(text, isCode: true, note: one.id == visitor.session.key.id ? "you are signed in with it" : nil)
            case "revokedAt":
                one.revokedAt == nil ? .init("in use", tone: .ok) : .init("revoked", tone: .quiet, note: text)
            default: .init(text)
            }
        }
        return desk.response(
            ListPage(
                frame, lead: "Newest first; never the secrets. The command receipt-relay keys create makes one.",
                table: table, here: Section.keys.path))
    }

    static let audit = ConsoleList<AuditRecord>(
        section: .audit, path: Section.audit.path, title: "Audit log", lead: "Who did what by hand, newest first.",
        filters: [
            .init("action", "Action", of: AuditEntry.Action.allCases.map(\.rawValue)),
            .init("actor", "Who (part of the name)"), .init("target", "To what (exactly)"),
        ], list: .audit, file: "audit-log"
    ) { items, _, _ in
        Table(
            items, AuditRecord.columns("at", "actor", "action", "target", "reason"),
            empty: "Nothing is written that is like that."
        ) { name, one, text in
            guard name == "target" else { return .init(text) }
            return .init(text, href: ValidationID(one.target.value).map(ConsoleLink.validation), isCode: true)
        }
    }
}
