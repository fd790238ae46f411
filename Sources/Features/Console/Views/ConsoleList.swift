import HTTPServer
import Hummingbird
import Relay

/// A list page: its filters, the table, the next page, and the same rows as a file.
struct ConsoleList<Item: Viewed>: Sendable {
    /// A query item that the list accepts. Links to the next page contain all of them.
    struct Filter: Sendable {
        var name: String
        var label: String
        /// Allowed values; nil for free text.
        var choices: [String]?
        /// Value that applies if the query has none.
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
    /// For operators: actions that concern no row.
    var links: [ListPage.Link] = []
    var filters: [Filter]
    var list: OpsList<Item>
    /// Actions for selected rows.
    var picks: [ConsoleAction] = []
    /// Name of the file; nil if there is none.
    var file: String?
    /// Seconds after which the first page is reloaded.
    var live: Int?
    /// - Parameter visit: the visitor, who may act on rows; nil in a file, which contains no actions.
    var table: @Sendable (_ items: [Item], _ visit: ConsoleVisit?) -> Table

    /// Result of a read.
    struct Found: Sendable {
        var items: [Item] = []
        var next: String?
        /// Error in the query.
        var wrong: String?
    }

    func show(_ visit: ConsoleVisit) async throws -> Response {
        if let file = try await file(visit) { return file }
        return visit.response(page(try await read(visit), visit))
    }

    func read(_ visit: ConsoleVisit) async throws -> Found {
        var found = Found()
        found.wrong = try await visit.query.reading {
            (found.items, found.next) = try await read($0, visit)
        }
        return found
    }

    /// - Parameter choices: values of filters that are known only at run time, by the filter's name.
    func page(
        _ found: Found, _ visit: ConsoleVisit, alert: String? = nil,
        choices: [String: [(value: String, title: String)]] = [:]
    ) -> ListPage {
        let (query, items) = (visit.query, items(visit))
        var frame = visit.frame(title, at: section, live: query["cursor"] == nil ? live : nil)
        frame.alert = alert
        return ListPage(
            frame, lead: lead,
            filters: filters.map { filter in
                .init(
                    filter.name, filter.label, value: query[filter.name] ?? filter.standard,
                    of: choices[filter.name] ?? filter.choices.map { $0.map { (value: $0, title: $0) } })
            }, wrong: found.wrong, links: visit.isOperator ? links : [],
            table: table(found.items, visit), here: path, first: query["cursor"] == nil ? nil : path,
            next: found.next.map { ConsoleLink.page(path, items + [("cursor", $0)]) },
            export: file == nil ? nil : ConsoleLink.page(path, items + [("format", "csv")]),
            picks: picks.isEmpty || !visit.isOperator ? nil : ConsoleSelection.picks(picks))
    }

    /// Nil if the query does not ask for a file.
    func file(_ visit: ConsoleVisit) async throws -> Response? {
        guard let file, visit.query["format"] == "csv" else { return nil }
        return try await ConsoleExport.response(file, items(visit)) {
            let (items, next) = try await read($0, visit)
            return (table(items, nil), items.count, next)
        }
    }

    /// Reads a page. Ignores unknown items, since page addresses contain more than the list reads.
    private func read(_ query: QueryItems, _ visit: ConsoleVisit) async throws -> OpsList<Item>.Page {
        try await list.read(PageQuery(query, ignoresUnknown: true), visit.store, visit.scope)
    }

    private func items(_ visit: ConsoleVisit) -> [(String, String?)] {
        filters.map { ($0.name, visit.query[$0.name]) }
    }
}

extension Table {
    /// - Parameters:
    ///   - labels: column titles that differ from the console's standard, by the field's name.
    ///   - acts: title of a last column with actions on a row, and their addresses.
    ///   - cell: makes a cell from the field's name, the item and its text.
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

/// Exports a list as a file for spreadsheets: the filtered rows from the beginning, up to a maximum.
enum ConsoleExport {
    static let mostRows = 5_000
    /// Columns that contain only actions.
    private static let dropped: Set<String> = ["Replay"]

    /// - Parameters:
    ///   - items: the filter.
    ///   - page: reads one page: the rows, and the cursor of the next page.
    /// - Throws: ``Problem`` 422 for an invalid filter.
    static func response(
        _ name: String, _ items: [(String, String?)],
        page: (QueryItems) async throws -> (table: Table, count: Int, next: String?)
    ) async throws -> Response {
        var body = ByteBuffer()
        var (count, cursor): (Int, String?) = (0, nil)
        repeat {
            let limit = min(PageQuery.maximumLimit, mostRows - count)
            let query = ConsoleLink.query(items + [("limit", "\(limit)"), ("cursor", cursor)])
            let found = try await page(QueryItems(query))
            body.writeString(found.table.csv(dropping: dropped, hasHeader: count == 0))
            count += found.count
            cursor = found.count > 0 ? found.next : nil
        } while cursor != nil && count < mostRows
        // The file name shows that rows are missing. A row for that could be mistaken for data.
        let file = cursor == nil ? name : "\(name)-first-\(mostRows)"
        return Response(
            status: .ok,
            headers: [
                .contentType: "text/csv; charset=utf-8; header=present", .cacheControl: "no-store",
                .contentDisposition: "attachment; filename=\"\(file).csv\"", .xContentTypeOptions: "nosniff",
                .contentSecurityPolicy: "default-src 'none'; sandbox",
            ], body: ResponseBody(byteBuffer: body))
    }
}
