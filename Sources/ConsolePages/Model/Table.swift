/// Rows under columns. On a narrow screen each row is a card, so every cell carries its column's name.
public struct Table: Sendable {
    public struct Cell: Sendable {
        var text: String
        var href: String?
        var tone: String?
        var isCode = false
        var note: String?
        var column = ""

        public init(
            _ text: String?, href: String? = nil, tone: Tone? = nil, isCode: Bool = false, note: String? = nil
        ) {
            self.text = text.flatMap { $0.isEmpty ? nil : $0 } ?? "–"
            self.href = href
            self.tone = tone?.rawValue
            self.isCode = isCode
            self.note = note
        }
    }

    struct Row: Sendable {
        var cells: [Cell]
    }

    var columns: [String]
    var rows: [Row]
    /// What is said where there are no rows.
    var empty: String

    public init(_ columns: [String], _ rows: [[Cell]], empty: String) {
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

/// How something is meant: never told by colour alone.
public enum Tone: String, Sendable {
    case ok, warning, critical, quiet, link
}
