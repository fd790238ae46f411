import NIOCore

extension JSONScanner {
    /// Reads a body that has to be one JSON object, and nothing behind it. A byte order mark before it is skipped.
    ///
    /// - Parameter member: must read or skip each value; they stand at depth 2.
    /// - Throws: ``Problem``: 400 where it is not JSON, 422 where it is JSON and no object.
    static func readObject(
        _ bytes: ByteBuffer, _ member: (inout JSONScanner, String) throws(JSONSyntaxError) -> Void
    ) throws {
        do {
            try bytes.withUnsafeReadableBytes { bytes in
                var scanner = JSONScanner(bytes)
                scanner.skipByteOrderMark()
                let kind = try scanner.kind()
                guard kind == .object else {
                    try scanner.skip(depth: 1)
                    try scanner.end()
                    throw Problem.invalidFields([.wrongType("", "an object", kind)])
                }
                try scanner.object(depth: 1, member)
                try scanner.end()
            }
        } catch let error as JSONSyntaxError {
            throw error.problem
        }
    }

    /// RFC 8259 section 8.1: nobody should send one, and a reader may ignore it.
    private mutating func skipByteOrderMark() {
        if bytes.starts(with: [0xef, 0xbb, 0xbf]) { index = 3 }
    }
}

extension JSONScanner {
    /// Whether the text is one JSON value and nothing else.
    ///
    /// - Parameter levels: how deep objects and arrays may be nested.
    static func isJSON(_ text: String, levels: Int = maximumDepth) -> Bool {
        var text = text
        return text.withUTF8 { utf8 in
            var scanner = JSONScanner(UnsafeRawBufferPointer(utf8))
            do {
                try scanner.skip(depth: maximumDepth - levels + 1)
                try scanner.end()
                return true
            } catch {
                return false
            }
        }
    }
}

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
