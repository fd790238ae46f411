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
