import NIOCore

extension JSONScanner {
    /// Reads a body that has to be one JSON object, and nothing behind it.
    ///
    /// - Parameter member: must read or skip each value; they stand at depth 2.
    /// - Throws: ``Problem``: 400 where it is not JSON, 422 where it is JSON and no object.
    static func readObject(
        _ bytes: ByteBuffer, _ member: (inout JSONScanner, String) throws(JSONSyntaxError) -> Void
    ) throws {
        do {
            try bytes.withUnsafeReadableBytes { bytes in
                var scanner = JSONScanner(bytes)
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
}
