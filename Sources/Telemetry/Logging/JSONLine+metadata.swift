import Logging

extension JSONLine {
    private static let maximumElements = 64

    /// Returns false, and leaves the line as it was, where the entry has no room.
    mutating func append(_ entry: FlatMetadata.Entry) -> Bool {
        let before = count
        append(",")
        append(string: entry.key, limit: JSONLogHandler.maximumKeyBytes)
        append(":")
        append(value: entry.value, limit: JSONLogHandler.maximumValueBytes, depth: 0)
        guard count + JSONLogHandler.ending.utf8CodeUnitCount <= JSONLogHandler.maximumLineBytes else {
            cut(backTo: before)
            return false
        }
        return true
    }

    private mutating func append(value: Logger.MetadataValue, limit: Int, depth: Int) {
        switch value {
        case .string(let text):
            append(string: text, limit: limit)
        case .stringConvertible(let value):
            switch value {
            case let number as Int: append(verbatim: String(number))
            case let number as Int64: append(verbatim: String(number))
            case let flag as Bool: append(verbatim: flag ? "true" : "false")
            case let number as Double where number.isFinite: append(verbatim: number.description)
            default: append(string: value.description, limit: limit)
            }
        case .array(let elements) where depth == 0:
            append(elements, limit: limit)
        case .array, .dictionary:
            // A tree inside a list has no flat form; the text is cut like any other.
            append(string: value.description, limit: limit)
        }
    }

    private mutating func append(_ elements: [Logger.MetadataValue], limit: Int) {
        let end = count + limit
        append("[")
        for (index, element) in elements.prefix(Self.maximumElements).enumerated() where count < end {
            if index > 0 { append(",") }
            append(value: element, limit: end - count, depth: 1)
        }
        append("]")
    }
}
