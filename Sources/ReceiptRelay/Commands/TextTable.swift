import Formats
import Foundation
import Relay

/// A table for a terminal. Its texts come from apps, stores and Cleeng, so control characters are removed: a terminal
/// could execute them.
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

    /// - Parameter labels: column labels that replace the fields' own, by field name.
    static func write<Item: Viewed>(_ items: [Item], _ columns: [Field<Item>], labels: [String: String] = [:]) {
        TextTable(columns: columns.map { (labels[$0.name] ?? $0.label).uppercased() }).write(
            items.map { item in columns.map { $0.text(item) ?? "-" } })
    }

    /// The text without characters that a terminal would interpret.
    static func plain(_ text: String) -> String {
        guard text.hasControlCharacters else { return text }
        return String(
            String.UnicodeScalarView(text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }))
    }
}

/// Colours for output on a terminal.
enum Hue: String {
    case red = "31"
    case green = "32"
    case yellow = "33"
    case blue = "34"
    case faint = "2"
    case bold = "1"
    case none = ""

    /// True on a terminal unless `NO_COLOR` is set.
    static var areWanted: Bool {
        let environment = ProcessInfo.processInfo.environment
        return isatty(STDOUT_FILENO) == 1 && environment["NO_COLOR"].map(\.isEmpty) ?? true
            && environment["TERM"] != "dumb"
    }

    func around(_ text: String) -> String {
        self == .none || !Self.areWanted ? text : "\u{1B}[\(rawValue)m\(text)\u{1B}[0m"
    }

    /// The colour of a cell, by its first word if that is a status.
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

/// Output of `--json`: the same JSON as in the ops API, with line breaks.
enum JSONOutput {
    static func write(_ write: (inout JSONWriter) throws -> Void) throws {
        var writer = JSONWriter(capacity: 4_096)
        try write(&writer)
        let value = try JSONSerialization.jsonObject(with: Data(writer.bytes), options: .fragmentsAllowed)
        let lines = try JSONSerialization.data(
            withJSONObject: value, options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes, .fragmentsAllowed])
        print(escaped(String(decoding: lines, as: UTF8.self)))
    }

    /// JSON whose texts hold no character that a terminal would interpret or hide: each is written by its number.
    static func escaped(_ json: String) -> String {
        func isSafe(_ scalar: Unicode.Scalar) -> Bool {
            switch scalar.properties.generalCategory {
            case .control: scalar == "\n"
            case .format, .lineSeparator, .paragraphSeparator: false
            default: true
            }
        }
        guard !json.unicodeScalars.allSatisfy(isSafe) else { return json }
        return json.unicodeScalars.reduce(into: "") { text, scalar in
            guard !isSafe(scalar) else { return text.unicodeScalars.append(scalar) }
            for unit in scalar.utf16 {
                let digits = String(unit, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }
        }
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
