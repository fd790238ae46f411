/// The NeXTSTEP property list as transaction receipts use it: `{ "key" = "value"; … }`, texts only.
struct PropertyListDictionary {
    private(set) var values: [String: ArraySlice<UInt8>] = [:]

    /// Nil for any other form: nested values, data in angle brackets, comments, a repeated key, more than 128 entries.
    init?(_ bytes: ArraySlice<UInt8>) {
        var scanner = Scanner(rest: bytes)
        guard scanner.take(UInt8(ascii: "{")) else { return nil }
        while !scanner.take(UInt8(ascii: "}")) {
            guard values.count < ReceiptLimits.propertyListEntries,
                let key = scanner.string(), let name = String(validating: key, as: UTF8.self),
                scanner.take(UInt8(ascii: "=")), let value = scanner.string(), scanner.take(UInt8(ascii: ";")),
                values.updateValue(value, forKey: name) == nil
            else { return nil }
        }
        guard scanner.isAtEnd else { return nil }
    }

    private struct Scanner {
        var rest: ArraySlice<UInt8>

        var isAtEnd: Bool {
            mutating get {
                skipSpace()
                return rest.isEmpty
            }
        }

        mutating func take(_ byte: UInt8) -> Bool {
            skipSpace()
            guard rest.first == byte else { return false }
            rest = rest.dropFirst()
            return true
        }

        mutating func string() -> ArraySlice<UInt8>? {
            guard take(UInt8(ascii: "\"")) else {
                let word = rest.prefix { Self.isBare($0) }
                rest = rest.dropFirst(word.count)
                return word.isEmpty ? nil : word
            }
            let plain = rest.prefix { $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
            rest = rest.dropFirst(plain.count)
            if rest.first == UInt8(ascii: "\"") {
                rest = rest.dropFirst()
                return plain
            }
            return escaped(after: plain)
        }

        /// The rest of a quoted text, from its first backslash on.
        private mutating func escaped(after plain: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
            var value = Array(plain)
            while let byte = rest.popFirst() {
                switch byte {
                case UInt8(ascii: "\""): return value[...]
                case UInt8(ascii: "\\"):
                    // Only these escapes can occur in an id or a date; octal and Unicode ones cannot.
                    guard let next = rest.popFirst(), next == UInt8(ascii: "\"") || next == UInt8(ascii: "\\")
                    else { return nil }
                    value.append(next)
                default: value.append(byte)
                }
            }
            return nil
        }

        private mutating func skipSpace() {
            rest = rest.drop { $0 == 0x20 || (0x09...0x0D).contains($0) }
        }

        /// Whether the format allows the byte without quotes.
        private static func isBare(_ byte: UInt8) -> Bool {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
            case UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "/"), UInt8(ascii: ":"): true
            default: false
            }
        }
    }
}
