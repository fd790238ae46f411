/// Where a text stops being JSON that is taken, and why.
struct JSONSyntaxError: Error, Sendable, Equatable {
    enum Reason: Sendable {
        /// It is no JSON, or no UTF-8.
        case grammar
        /// It is, but nested too deeply.
        case depth
        /// An escape of half a character: the one without the other of a pair of surrogates.
        case surrogate
    }

    /// In bytes from the beginning.
    let offset: Int
    var reason = Reason.grammar

    /// What is said of a body.
    var problem: Problem {
        let detail =
            switch reason {
            case .grammar: "the body stops being JSON in UTF-8 at byte \(offset)"
            case .depth: "the body is nested more than \(JSONScanner.maximumDepth) levels deep at byte \(offset)"
            case .surrogate: "the escape before byte \(offset) is half of a pair of surrogates, and no character"
            }
        return Problem(.notJSON, detail)
    }
}
