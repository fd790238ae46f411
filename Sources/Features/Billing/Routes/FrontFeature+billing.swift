import ConsolePages
import Formats
import Hummingbird
import RelayCore
import RelayFront
import RelayStore

extension FrontFeature {
    /// Checks, orders and contracts, for publishers' billing systems.
    static let billing = FrontFeature(
        routes: { parts in
            let billing = BillingContext(parts: parts)
            return TokenRoutes(parts: parts).routes + CheckRoutes(billing: billing).routes
                + OrderRoutes(billing: billing).routes + ContractRoutes(billing: billing).routes
                + BillingWebhookRoutes(billing: billing).routes
        }, dialects: [.billwerk, .oauth], foldedPaths: ["/api/v1", "/oauth/token"],
        pages: [Page(section: OrdersView.section, show: OrdersView.show)])
}

/// The console's page of orders.
enum OrdersView {
    static let section = Section("orders", "Orders")

    static func show(_ visit: ConsoleVisit) async throws -> Response {
        let (query, path) = (visit.query, section.path)
        let publishers = try await visit.store.publishers.list(in: visit.scope).map(\.id)
        let publisher = PublisherID(query["publisher"]) ?? visit.scope.publisher ?? .first
        let after = query["cursor"].flatMap { BillingID($0) }
        let (items, next) = try await visit.store.orders.newest(of: publisher, after: after, in: visit.scope)
        return visit.response(
            ListPage(
                visit.frame("Orders of \(publisher)", at: section), lead: "Newest first, of one publisher.",
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
                next: next.map { ConsoleLink.page(path, [("publisher", publisher.text), ("cursor", "\($0)")]) }))
    }
}
