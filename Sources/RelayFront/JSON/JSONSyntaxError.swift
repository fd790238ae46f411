/// Not JSON as RFC 8259 has it, or nested deeper than ``JSONScanner/maximumDepth``.
struct JSONSyntaxError: Error, Sendable, Equatable {
    /// In bytes from the beginning.
    let offset: Int
}
