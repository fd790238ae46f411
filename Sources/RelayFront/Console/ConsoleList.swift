import ConsolePages
import Hummingbird
import Operations
import RelayCore
import RelayStore

/// A page that lists what operators see: what it may be narrowed by, a table, the next page, and the same as a file.
struct ConsoleList<Item: Viewed>: Sendable {
    /// What the query may have. All of it goes along to the next page.
    struct Filter: Sendable {
        var name: String
        var label: String
        /// Nil: to be typed.
        var choices: [String]?
        /// What counts where nothing is asked for.
        var standard: String?

        init(_ name: String, _ label: String, of choices: [String]? = nil, standard: String? = nil) {
            self.name = name
            self.label = label
            self.choices = choices
            self.standard = standard
        }
    }

    var section: Section
    var path: String
    var title: String
    var lead: String?
    var filters: [Filter]
    var list: OpsList<Item>
    /// What can be done with selected rows.
    var picks: [ConsoleAction] = []
    /// As its file is named; nil: it cannot be had as one.
    var file: String?
    /// In how many seconds the first page is fetched anew.
    var live: Int?
    /// - Parameter visitor: who may act on rows; nil: in a file nobody can.
    var table: @Sendable (_ items: [Item], _ desk: ConsoleDesk, _ visitor: ConsoleDesk.Visitor?) -> Table

    /// What was found.
    struct Found: Sendable {
        var items: [Item] = []
        var next: String?
        /// What is wrong with the query.
        var wrong: String?
    }

    func show(
        _ desk: ConsoleDesk, _ request: Request, _ context: FrontContext, _ visitor: ConsoleDesk.Visitor
    ) async throws -> Response {
        let query = ConsoleQuery(request)
        if let file = try await self.file(desk, query, visitor) { return file }
        return desk.response(
            page(try await read(desk, query, visitor), frame(desk, query, visitor), desk, query, visitor))
    }

    func read(_ desk: ConsoleDesk, _ query: ConsoleQuery, _ visitor: ConsoleDesk.Visitor) async throws -> Found {
        var found = Found()
        found.wrong = try await query.reading {
            (found.items, found.next) = try await list.read($0, desk.store, visitor.scope)
        }
        return found
    }

    func frame(_ desk: ConsoleDesk, _ query: ConsoleQuery, _ visitor: ConsoleDesk.Visitor) -> Frame {
        var frame = desk.frame(title, visitor, at: section, live: query["cursor"] == nil ? live : nil)
        frame.notice = ConsoleAction.notice(query["done"])
        return frame
    }

    /// - Parameter choices: of filters, by their names, that are known only now.
    func page(
        _ found: Found, _ frame: Frame, _ desk: ConsoleDesk, _ query: ConsoleQuery, _ visitor: ConsoleDesk.Visitor,
        choices: [String: [(value: String, title: String)]] = [:]
    ) -> ListPage {
        ListPage(
            frame, lead: lead,
            filters: filters.map { filter in
                let choices = choices[filter.name] ?? filter.choices.map { $0.map { (value: $0, title: $0) } }
                let value = query[filter.name] ?? filter.standard
                return choices.map { .init(filter.name, filter.label, value: value, of: $0) }
                    ?? .init(filter.name, filter.label, value: value)
            }, wrong: found.wrong,
            table: table(found.items, desk, visitor), here: path, first: query["cursor"] == nil ? nil : path,
            next: ConsoleLink.page(path, items(query), cursor: found.next),
            export: file == nil ? nil : ConsoleExport.path(path, items(query)),
            picks: picks.isEmpty ? nil : ConsoleSelection.picks(picks, visitor))
    }

    /// Nil where none is wanted.
    func file(
        _ desk: ConsoleDesk, _ query: ConsoleQuery, _ visitor: ConsoleDesk.Visitor
    ) async throws -> Response? {
        guard let file, ConsoleExport.isWanted(query) else { return nil }
        return try await ConsoleExport.response(file, items(query)) {
            let (items, next) = try await list.read($0, desk.store, visitor.scope)
            return (table(items, desk, nil), items.count, next)
        }
    }

    private func items(_ query: ConsoleQuery) -> [(String, String?)] {
        query.all(filters.map(\.name))
    }
}

extension Table {
    /// - Parameters:
    ///   - labels: over columns that the console names in its own way, by the field's name.
    ///   - acts: over a last column with what can be done with a row, and its address.
    ///   - cell: of a field, by its name, and its text.
    init<Item: Viewed>(
        _ items: [Item], _ columns: [Field<Item>], labels: [String: String] = [:], empty: String,
        acts: (label: String, href: (Item) -> (title: String, href: String)?)? = nil,
        cell: (_ name: String, _ item: Item, _ text: String?) -> Cell
    ) {
        let rows = items.map { item -> [Cell] in
            var cells = columns.map { cell($0.name, item, $0.text(item) { ConsoleText.time($0) }) }
            guard let acts else { return cells }
            let act = acts.href(item)
            cells.append(Cell(act?.title, href: act?.href))
            return cells
        }
        var names = columns.map { labels[$0.name] ?? $0.label }
        if let acts { names.append(acts.label) }
        self.init(names, rows, empty: empty)
    }
}
