extension JSONScanner {
    /// Whether the text is one JSON value and nothing else.
    static func isJSON(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { utf8 in
            var scanner = JSONScanner(UnsafeRawBufferPointer(utf8))
            do {
                try scanner.skip(depth: 1)
                try scanner.end()
                return true
            } catch {
                return false
            }
        }
    }
}
