import Formats
import Logging

/// One line of JSON under construction, as bytes.
struct JSONLine {
    private(set) var bytes: [UInt8] = []

    init() { bytes.reserveCapacity(512) }

    mutating func append(_ literal: StaticString) { bytes.append(literal) }

    mutating func append(millisecondsSince1970 moment: Int64) {
        RFC3339.append(millisecondsSince1970: moment, to: &bytes)
    }

    /// Appends text that is already JSON, such as a number.
    mutating func append(verbatim text: String) { bytes.append(contentsOf: text.utf8) }

    /// A quoted string whose content takes `limit` bytes at most after escaping; a cut one ends in an ellipsis.
    mutating func append(string: String, limit: Int) {
        bytes.append(UInt8(ascii: "\""))
        var string = string
        string.withUTF8 { appendEscaped($0, end: bytes.count + limit) }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func appendEscaped(_ text: UnsafeBufferPointer<UInt8>, end: Int) {
        var index = 0
        while index < text.count {
            let run = text.lengthOfPlainRun(from: index)
            if run > 0 {
                let taken = text.wholeScalars(from: index, atMost: min(run, end - bytes.count))
                bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[index..<index + taken]))
                if taken < run { return append("…") }
                index += run
            } else {
                guard end - bytes.count >= 6 else { return append("…") }
                index += appendEscape(of: text, at: index)
            }
        }
    }

    /// Returns the length of the escaped input.
    private mutating func appendEscape(of text: UnsafeBufferPointer<UInt8>, at index: Int) -> Int {
        let (unit, length): (UInt16, Int) =
            switch text[index] {
            case 0xC2: (UInt16(text[index + 1]), 2)
            case 0xE2: (0x2000 | UInt16(text[index + 1] & 0x3F) << 6 | UInt16(text[index + 2] & 0x3F), 3)
            case let byte: (UInt16(byte), 1)
            }
        bytes.appendJSONEscape(unit, .lines)
        return length
    }
}

extension UnsafeBufferPointer<UInt8> {
    fileprivate func lengthOfPlainRun(from start: Int) -> Int {
        var index = start
        while index < count, !needsEscape(at: index) { index += 1 }
        return index - start
    }

    /// JSON requires escapes for the quote, the backslash and characters below 0x20. The other characters could forge
    /// or hide a line on a terminal or in a viewer: delete, C1 controls, line and paragraph separators, direction
    /// controls.
    private func needsEscape(at index: Int) -> Bool {
        switch self[index] {
        case 0..<0x20, UInt8(ascii: "\""), UInt8(ascii: "\\"), 0x7F: true
        case 0xC2: index + 1 < count && self[index + 1] < 0xA0
        case 0xE2 where index + 2 < count:
            switch (self[index + 1], self[index + 2]) {
            case (0x80, 0xA8...0xAE), (0x81, 0xA6...0xA9): true
            default: false
            }
        default: false
        }
    }

    fileprivate func wholeScalars(from start: Int, atMost limit: Int) -> Int {
        var length = Swift.max(0, limit)
        while length > 0, start + length < count, self[start + length] & 0xC0 == 0x80 { length -= 1 }
        return length
    }
}

extension JSONLine {
    private static let maximumElements = 64

    /// Appends an entry. If it does not fit, returns false and leaves the line unchanged.
    mutating func append(_ entry: FlatMetadata.Entry) -> Bool {
        let before = bytes.count
        append(",")
        append(string: entry.key, limit: JSONLogHandler.maximumKeyBytes)
        append(":")
        append(value: entry.value, limit: JSONLogHandler.maximumValueBytes, depth: 0)
        guard bytes.count + JSONLogHandler.ending.utf8CodeUnitCount <= JSONLogHandler.maximumLineBytes else {
            bytes.removeLast(bytes.count - before)
            return false
        }
        return true
    }

    private mutating func append(value: Logger.MetadataValue, limit: Int, depth: Int) {
        switch value {
        case .string(let text): append(string: text, limit: limit)
        case .stringConvertible(let value):
            switch value {
            case let number as Int: append(verbatim: String(number))
            case let number as Int64: append(verbatim: String(number))
            case let flag as Bool: append(verbatim: flag ? "true" : "false")
            case let number as Double where number.isFinite: append(verbatim: number.description)
            default: append(string: value.description, limit: limit)
            }
        case .array(let elements) where depth == 0: append(elements, limit: limit)
        // A dictionary inside a list has no flat form; its text is cut like any other.
        case .array, .dictionary: append(string: value.description, limit: limit)
        }
    }

    private mutating func append(_ elements: [Logger.MetadataValue], limit: Int) {
        let end = bytes.count + limit
        append("[")
        for (index, element) in elements.prefix(Self.maximumElements).enumerated() where bytes.count < end {
            if index > 0 { append(",") }
            append(value: element, limit: end - bytes.count, depth: 1)
        }
        append("]")
    }
}
