/// A field as it stands in a body: null counts as absent.
enum JSONField: Sendable, Equatable {
    case absent
    case string(String)
    case other(JSONKind)

    /// Reads the value that stands next.
    init(_ scanner: inout JSONScanner, depth: Int) throws(JSONSyntaxError) {
        let kind = try scanner.kind()
        if kind == .string {
            self = .string(try scanner.string())
        } else {
            try scanner.skip(depth: depth)
            self = kind == .null ? .absent : .other(kind)
        }
    }
}

extension JSONField {
    /// Reads the value that stands next; a number counts as the text that it was written as.
    init(textOrNumber scanner: inout JSONScanner, depth: Int) throws(JSONSyntaxError) {
        let (kind, start) = (try scanner.kind(), scanner.index)
        guard kind == .number else {
            try self.init(&scanner, depth: depth)
            return
        }
        try scanner.skip(depth: depth)
        let digits = UnsafeRawBufferPointer(rebasing: scanner.bytes[start..<scanner.index])
        self = .string(String(decoding: digits, as: UTF8.self))
    }
}

/// What a JSON value is.
enum JSONKind: Sendable, Equatable {
    case null, bool, number, string, array, object

    var article: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}

/// A field that should hold a whole number, or the digits of one in a string: null counts as absent.
enum JSONInteger: Sendable, Equatable {
    case absent
    case value(Int64)
    /// Also a number with a fraction other than zero, and one too large.
    case other(JSONKind)

    /// Reads the value that stands next.
    init(_ scanner: inout JSONScanner, depth: Int) throws(JSONSyntaxError) {
        let kind = try scanner.kind()
        if kind == .string {
            self = Int64(try scanner.string()).map { .value($0) } ?? .other(kind)
            return
        }
        let start = scanner.index
        try scanner.skip(depth: depth)
        switch kind {
        case .null: self = .absent
        case .number:
            let bytes = UnsafeRawBufferPointer(rebasing: scanner.bytes[start..<scanner.index])
            let text = String(decoding: bytes, as: UTF8.self)
            // 5.0 is a whole number, too.
            let number = Int64(text) ?? Double(text).flatMap { Int64(exactly: $0) }
            self = number.map { .value($0) } ?? .other(kind)
        default: self = .other(kind)
        }
    }
}
