/// Rows under columns. On a narrow screen each row is a card, so every cell has its column's name.
struct Table: Sendable {
    /// Templates look up a missing name in the enclosing values. Therefore no page may have members with these names.
    struct Cell: Sendable {
        var text: String
        var link: String?
        var tag: String?
        var isCode = false
        var aside: String?
        var column = ""
        /// Value that selects its row.
        var pick: String?

        /// Placeholder for an empty value.
        static let nothing = "–"

        init(
            _ text: String?, href: String? = nil, tone: Tone? = nil, isCode: Bool = false, note: String? = nil,
            pick: String? = nil
        ) {
            self.text = text.flatMap { $0.isEmpty ? nil : $0 } ?? Self.nothing
            link = href
            tag = tone?.rawValue
            self.isCode = isCode
            aside = note
            self.pick = pick
        }
    }

    struct Row: Sendable {
        var cells: [Cell]
    }

    var columns: [String]
    var rows: [Row]
    /// Text shown if there are no rows.
    var empty: String

    init(_ columns: [String], _ rows: [[Cell]], empty: String) {
        self.columns = columns
        self.rows = rows.map { cells in
            Row(
                cells: zip(columns, cells).map { column, cell in
                    var cell = cell
                    cell.column = column
                    return cell
                })
        }
        self.empty = empty
    }
}

/// Meaning of a value: never shown by colour alone.
enum Tone: String, Sendable {
    case ok, warning, critical, quiet, link
}
