import Formats
import Foundation
import Operations

/// Rows in columns, for people. What stands in them comes from apps, stores and Cleeng: nothing of it reaches a terminal as a command.
struct TextTable {
    let columns: [String]

    func write(_ rows: [[String]]) {
        let rows = rows.map { $0.map(Self.plain) }
        var widths = columns.map(\.count)
        for row in rows {
            for (index, cell) in row.enumerated() where index < widths.count {
                widths[index] = max(widths[index], cell.count)
            }
        }
        let hues = Hue.areWanted
        for (number, row) in ([columns] + rows).enumerated() {
            let cells = zip(row, widths).map { cell, width in
                let padding = String(repeating: " ", count: width - cell.count)
                return (hues ? number == 0 ? Hue.faint.around(cell) : Hue.of(cell).around(cell) : cell) + padding
            }
            var line = cells.joined(separator: "  ")
            while line.last == " " { line.removeLast() }
            print(line)
        }
    }

    /// - Parameter labels: over columns that are named in another way than elsewhere, by the field's name.
    static func write<Item: Viewed>(_ items: [Item], _ columns: [Field<Item>], labels: [String: String] = [:]) {
        TextTable(columns: columns.map { (labels[$0.name] ?? $0.label).uppercased() }).write(
            items.map { item in columns.map { $0.text(item) ?? "-" } })
    }

    /// Without characters that a terminal would act on.
    static func plain(_ text: String) -> String {
        guard text.hasControlCharacters else { return text }
        return String(
            String.UnicodeScalarView(text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }))
    }
}

/// Colour, where somebody looks.
enum Hue: String {
    case red = "31"
    case green = "32"
    case yellow = "33"
    case blue = "34"
    case faint = "2"
    case bold = "1"
    case none = ""

    /// On a terminal, unless `NO_COLOR` says otherwise.
    static var areWanted: Bool {
        let environment = ProcessInfo.processInfo.environment
        return isatty(STDOUT_FILENO) == 1 && environment["NO_COLOR"].map(\.isEmpty) ?? true
            && environment["TERM"] != "dumb"
    }

    func around(_ text: String) -> String {
        self == .none || !Self.areWanted ? text : "\u{1B}[\(rawValue)m\(text)\u{1B}[0m"
    }

    /// Words that say how something stands.
    static func of(_ cell: String) -> Hue {
        switch cell.split(separator: " ").first {
        case "granted", "active", "delivered", "ok", "completed", "Completed": .green
        case "pending", "waiting": .blue
        case "timed_out", "in_grace", "in_billing_retry", "failing", "degraded": .yellow
        case "rejected", "disabled", "failed", "dropped", "down", "misconfigured", "silent": .red
        default: .none
        }
    }
}

/// What `--json` prints: as the ops API has it, in lines.
enum JSONOutput {
    static func write(_ write: (inout JSONWriter) throws -> Void) throws {
        var writer = JSONWriter(capacity: 4_096)
        try write(&writer)
        let value = try JSONSerialization.jsonObject(with: Data(writer.bytes), options: .fragmentsAllowed)
        let lines = try JSONSerialization.data(
            withJSONObject: value, options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes, .fragmentsAllowed])
        print(String(decoding: lines, as: UTF8.self))
    }

    static func write(_ item: some Viewed) throws { try write { $0.value(item) } }

    static func write<Item: Viewed>(_ items: [Item]) throws {
        try write { writer in
            writer.beginArray()
            for item in items { writer.value(item) }
            writer.endArray()
        }
    }
}
