import Hummingbird
import Relay
import RelayCore

/// The page of a feature's list.
enum FeatureView {
    static func show(_ page: OpsPage, _ visit: ConsoleVisit) async throws -> Response {
        let (query, section) = (visit.query, Section(page))
        let publishers = try await visit.store.publishers.list(in: visit.scope).map(\.id)
        let publisher = PublisherID(query["publisher"]) ?? visit.scope.publisher ?? .first
        let asked = OpsPage.Asked(
            publisher: publisher, cursor: query["cursor"], scope: visit.scope, time: { ConsoleText.time($0) })
        let rows = visit.scope.contains(publisher) ? try await page.read(asked, visit.store) : OpsPage.Rows()
        return visit.response(
            ListPage(
                visit.frame("\(page.title) of \(publisher)", at: section), lead: page.lead,
                filters: [
                    .init(
                        "publisher", "Publisher", value: publisher.text,
                        of: publishers.map { (value: $0.text, title: $0.text) })
                ],
                table: Table(page.columns, rows.texts.map { $0.map { .init($0) } }, empty: page.empty),
                here: section.path,
                first: query["cursor"] == nil ? nil : ConsoleLink.page(section.path, [("publisher", publisher.text)]),
                next: rows.next.map {
                    ConsoleLink.page(section.path, [("publisher", publisher.text), ("cursor", $0)])
                }))
    }
}
