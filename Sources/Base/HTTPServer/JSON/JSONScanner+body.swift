import NIOCore

extension JSONScanner {
    /// Reads a body that must be exactly one JSON object. Skips a byte order mark before it.
    ///
    /// - Parameter member: must read or skip each value; values are at depth 2.
    /// - Throws: ``Problem``: 400 if it is not JSON, 422 if it is JSON but not an object.
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

    /// RFC 8259 section 8.1: senders must not add one, and readers may ignore it.
    package mutating func skipByteOrderMark() {
        if bytes.starts(with: [0xef, 0xbb, 0xbf]) { index = 3 }
    }
}

extension JSONScanner {
    /// Whether the text is exactly one JSON value.
    ///
    /// - Parameter levels: maximum nesting of objects and arrays.
    package static func isJSON(_ text: String, levels: Int = maximumDepth) -> Bool {
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

/// Where and why a text is not acceptable JSON.
package struct JSONSyntaxError: Error, Sendable, Equatable {
    package enum Reason: Sendable {
        /// The text is not JSON, or not UTF-8.
        case grammar
        /// The text is nested too deeply.
        case depth
        /// An escape of one half of a surrogate pair without the other.
        case surrogate
    }

    /// Offset in bytes from the beginning.
    package let offset: Int
    package var reason = Reason.grammar

    /// The client's error about the body.
    package var problem: Problem {
        let detail =
            switch reason {
            case .grammar: "the body stops being JSON in UTF-8 at byte \(offset)"
            case .depth: "the body is nested more than \(JSONScanner.maximumDepth) levels deep at byte \(offset)"
            case .surrogate: "the escape before byte \(offset) is half of a pair of surrogates, and no character"
            }
        return Problem(.notJSON, detail)
    }
}
