/// A field of a body; null counts as absent.
package enum JSONField: Sendable, Equatable {
    case absent
    case string(String)
    /// The unchanged text.
    case number(String)
    case bool(Bool)
    /// The unchanged text, for both.
    case array(String)
    case object(String)

    /// Reads the next value.
    package init(_ scanner: inout JSONScanner, depth: Int) throws(JSONSyntaxError) {
        let kind = try scanner.kind()
        if kind == .string {
            self = .string(try scanner.string())
            return
        }
        let text = try scanner.text(depth: depth)
        self =
            switch kind {
            case .null: .absent
            case .bool: .bool(text == "true")
            case .number: .number(text)
            case .array: .array(text)
            case .object, .string: .object(text)
            }
    }

    package var kind: JSONKind {
        switch self {
        case .absent: .null
        case .string: .string
        case .number: .number
        case .bool: .bool
        case .array: .array
        case .object: .object
        }
    }

    /// The field with a number turned into its text.
    package var textOrNumber: JSONField { if case .number(let text) = self { .string(text) } else { self } }

    /// Value of a whole number, also if written as 5.0.
    package var integer: Int64? {
        guard case .number(let text) = self else { return nil }
        return Int64(text) ?? Double(text).flatMap { Int64(exactly: $0) }
    }
}

/// The type of a JSON value.
package enum JSONKind: Sendable, Equatable {
    case null, bool, number, string, array, object

    package var article: String {
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
