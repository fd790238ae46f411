/// Rows in columns, for people.
struct Table {
    let columns: [String]

    func write(_ rows: [[String]]) {
        var widths = columns.map(\.count)
        for row in rows {
            for (index, cell) in row.enumerated() where index < widths.count {
                widths[index] = max(widths[index], cell.count)
            }
        }
        for row in [columns] + rows {
            let cells = zip(row, widths).map { cell, width in cell + String(repeating: " ", count: width - cell.count) }
            var line = cells.joined(separator: "  ")
            while line.last == " " { line.removeLast() }
            print(line)
        }
    }
}
