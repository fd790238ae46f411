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
