/// A page of a list, with its filters.
struct ListPage: ConsolePage {
    static let template = "list"

    struct Filter: Sendable {
        struct Options: Sendable {
            var choices: [Choice]
        }

        struct Choice: Sendable {
            var value: String
            var title: String
            var isChosen: Bool
        }

        var name: String
        var label: String
        var value: String
        var options: Options?

        /// - Parameter choices: values to select from; nil for a text field.
        init(
            _ name: String, _ label: String, value: String?, of choices: [(value: String, title: String)]? = nil
        ) {
            let value = value ?? ""
            self.name = name
            self.label = label
            self.value = value
            options = choices.map { choices in
                Options(
                    choices: ([("", "any")] + choices).map {
                        Choice(value: $0.0, title: $0.1, isChosen: $0.0 == value)
                    })
            }
        }
    }

    /// An action that concerns no single row.
    struct Link: Sendable {
        var title: String
        var href: String

        init(_ title: String, href: String) {
            self.title = title
            self.href = href
        }
    }

    /// Actions for the selected rows.
    struct Picks: Sendable {
        struct Button: Sendable {
            var value: String
            var title: String
            var isGrave: Bool

            init(_ value: String, _ title: String, isGrave: Bool) {
                self.value = value
                self.title = title
                self.isGrave = isGrave
            }
        }

        /// URL that the form posts to.
        var target: String
        var buttons: [Button]
    }

    var frame: Frame
    var lead: String?
    var filters: [Filter]
    /// Stored, because templates see only stored members (by reflection).
    var hasFilters: Bool
    /// Why the filters are invalid.
    var wrong: String?
    var links: [Link]
    var table: Table
    /// Path without filters.
    var here: String
    var first: String?
    var next: String?
    /// URL of the list as a file.
    var export: String?
    var picks: Picks?

    /// - Parameters:
    ///   - here: path of the page.
    ///   - first: URL of the first page, if this is another one.
    init(
        _ frame: Frame, lead: String? = nil, filters: [Filter] = [], wrong: String? = nil, links: [Link] = [],
        table: Table,
        here: String,
        first: String? = nil, next: String? = nil, export: String? = nil, picks: Picks? = nil
    ) {
        self.frame = frame
        self.lead = lead
        self.filters = filters
        self.wrong = wrong
        self.links = links
        self.table = table
        self.here = here
        self.first = first
        self.next = next
        self.export = export
        // Without selectable rows, there are no actions for selected rows.
        self.picks = table.rows.contains { $0.cells.contains { $0.pick != nil } } ? picks : nil
        hasFilters = !filters.isEmpty
    }
}
