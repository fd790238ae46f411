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
