/// Reads JSON once, front to back, and keeps only what the caller reads. A body of megabytes is never copied or held
/// twice.
///
/// Strict where safety requires it: RFC 8259's grammar to the last byte, valid UTF-8 in every string, no half surrogate
/// pairs, a bounded depth. If a name is repeated, the last value counts.
///
/// Borrows the bytes: it must not outlive the closure that passed them.
package struct JSONScanner {
    static let maximumDepth = 64

    let bytes: UnsafeRawBufferPointer
    var index = 0

    package init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    var error: JSONSyntaxError { JSONSyntaxError(offset: index) }

    /// The type of the next value. Skips white space before it.
    package mutating func kind() throws(JSONSyntaxError) -> JSONKind {
        skipSpace()
        guard index < bytes.count else { throw error }
        switch bytes[index] {
        case UInt8(ascii: "{"): return .object
        case UInt8(ascii: "["): return .array
        case UInt8(ascii: "\""): return .string
        case UInt8(ascii: "t"), UInt8(ascii: "f"): return .bool
        case UInt8(ascii: "n"): return .null
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number
        default: throw error
        }
    }

    /// Calls back for each member. The callback must read or skip its value.
    package mutating func object(
        depth: Int, _ member: (inout JSONScanner, String) throws(JSONSyntaxError) -> Void
    ) throws(JSONSyntaxError) {
        try checkDepth(depth)
        guard take(UInt8(ascii: "{")) else { throw error }
        if take(UInt8(ascii: "}")) { return }
        repeat {
            skipSpace()
            let name = try string()
            guard take(UInt8(ascii: ":")) else { throw error }
            try member(&self, name)
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "}")) else { throw error }
    }

    /// Skips a value of any type, but checks it.
    package mutating func skip(depth: Int) throws(JSONSyntaxError) {
        switch try kind() {
        case .object:
            try object(depth: depth) { (scanner, _) throws(JSONSyntaxError) in try scanner.skip(depth: depth + 1) }
        case .array:
            try checkDepth(depth)
            guard take(UInt8(ascii: "[")) else { throw error }
            if take(UInt8(ascii: "]")) { return }
            repeat { try skip(depth: depth + 1) } while take(UInt8(ascii: ","))
            guard take(UInt8(ascii: "]")) else { throw error }
        case .string: _ = try string()
        case .number: try number()
        case .bool: try literal(bytes[index] == UInt8(ascii: "t") ? "true" : "false")
        case .null: try literal("null")
        }
    }

    /// The unchanged text of a value of any type, after a check.
    mutating func text(depth: Int) throws(JSONSyntaxError) -> String {
        skipSpace()
        let start = index
        try skip(depth: depth)
        return String(decoding: UnsafeRawBufferPointer(rebasing: bytes[start..<index]), as: UTF8.self)
    }

    /// Reads and unescapes a string.
    mutating func string() throws(JSONSyntaxError) -> String {
        guard index < bytes.count, bytes[index] == UInt8(ascii: "\"") else { throw error }
        index += 1
        let start = index
        var isASCII: UInt8 = 0
        index += ByteScan.plainStringBytes(bytes, from: start, seen: &isASCII)
        while index < bytes.count {
            let byte = bytes[index]
            switch byte {
            case UInt8(ascii: "\""):
                let content = UnsafeRawBufferPointer(rebasing: bytes[start..<index])
                index += 1
                if isASCII < 0x80 { return String(decoding: content, as: UTF8.self) }
                guard let text = String(validating: content, as: UTF8.self) else { throw error }
                return text
            case UInt8(ascii: "\\"): return try escapedString(from: start)
            case ..<0x20: throw error
            default:
                isASCII |= byte
                index += 1
            }
        }
        throw error
    }

    private func checkDepth(_ depth: Int) throws(JSONSyntaxError) {
        guard depth <= Self.maximumDepth else { throw JSONSyntaxError(offset: index, reason: .depth) }
    }

    /// Checks that only white space follows.
    package mutating func end() throws(JSONSyntaxError) {
        skipSpace()
        guard index == bytes.count else { throw error }
    }

    private mutating func number() throws(JSONSyntaxError) {
        if index < bytes.count, bytes[index] == UInt8(ascii: "-") { index += 1 }
        let whole = try digits()
        guard whole.count == 1 || bytes[whole.lowerBound] != UInt8(ascii: "0") else { throw error }
        if index < bytes.count, bytes[index] == UInt8(ascii: ".") {
            index += 1
            _ = try digits()
        }
        if index < bytes.count, bytes[index] | 0x20 == UInt8(ascii: "e") {
            index += 1
            if index < bytes.count, bytes[index] == UInt8(ascii: "+") || bytes[index] == UInt8(ascii: "-") {
                index += 1
            }
            _ = try digits()
        }
    }

    private mutating func digits() throws(JSONSyntaxError) -> Range<Int> {
        let start = index
        while index < bytes.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[index]) { index += 1 }
        guard index > start else { throw error }
        return start..<index
    }

    private mutating func literal(_ text: StaticString) throws(JSONSyntaxError) {
        let length = text.utf8CodeUnitCount
        guard index + length <= bytes.count,
            bytes[index..<index + length].elementsEqual(
                UnsafeBufferPointer(start: text.utf8Start, count: length))
        else { throw error }
        index += length
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        skipSpace()
        guard index < bytes.count, bytes[index] == byte else { return false }
        index += 1
        return true
    }

    private mutating func skipSpace() {
        while index < bytes.count {
            switch bytes[index] {
            case 0x20, 0x09, 0x0a, 0x0d: index += 1
            default: return
            }
        }
    }
}
