import Formats
package import Hummingbird

/// Reads a JSON body within its bounds.
package struct BodyReader: Sendable {
    let maximumBytes: Int

    package init(maximumBytes: Int) {
        self.maximumBytes = maximumBytes
    }

    /// - Parameters:
    ///   - loan: accounts for the bytes that arrive, if memory is budgeted.
    ///   - ofAnyType: whether to accept every media type.
    /// - Throws: ``Problem``: 415 before the body is read, 413 as soon as it is too large, 503 if too many bytes are
    ///   being read.
    package func read(
        _ request: Request, on loan: BodyLoan? = nil, ofAnyType: Bool = false
    ) async throws -> ByteBuffer {
        guard ofAnyType || MediaTypeHeader.isJSON(request.headers[.contentType]) else {
            throw Problem(
                .unsupportedMediaType, "send application/json, in UTF-8", headers: [.accept: "application/json"])
        }
        guard MediaTypeHeader.isIdentity(request.headers[.contentEncoding]) else {
            throw Problem(
                .unsupportedMediaType, "send the body without Content-Encoding", headers: [.acceptEncoding: "identity"])
        }
        let announced = request.headers[.contentLength].flatMap { Int($0) }
        if let announced, announced > maximumBytes { throw tooLarge }
        var body = ByteBuffer()
        for try await var part in request.body {
            guard body.readableBytes + part.readableBytes <= maximumBytes else { throw tooLarge }
            try loan?.grow(by: part.readableBytes)
            if body.readableBytes == 0 {
                body = part
                continue
            }
            if let announced, body.writableBytes < part.readableBytes { body.reserveCapacity(announced) }
            body.writeBuffer(&part)
        }
        return body
    }

    private var tooLarge: Problem {
        Problem(.bodyTooLarge, "at most \(maximumBytes) bytes are taken").closingConnection()
    }
}

/// Checks of `Content-Type` and `Content-Encoding` for JSON bodies.
enum MediaTypeHeader {
    /// An absent type counts as JSON: simple clients omit it, and parsing shows the truth.
    static func isJSON(_ value: String?) -> Bool {
        guard let value else { return true }
        let parts = value.parts(at: ";")
        let type = trimmed(parts[0])
        guard type == "application/json" || (type.hasBytes(first: "application/") && type.hasBytes(last: "+json"))
        else {
            return false
        }
        for parameter in parts.dropFirst() {
            let text = trimmed(parameter)
            guard text.hasBytes(first: "charset=") else { continue }
            let charset = text.droppingBytes(first: "charset=".utf8.count).filter { $0 != "\"" }
            guard ["utf-8", "utf8", "us-ascii"].contains(charset) else { return false }
        }
        return true
    }

    static func isIdentity(_ value: String?) -> Bool {
        value.map { trimmed($0[...]).isEmpty || trimmed($0[...]) == "identity" } ?? true
    }

    private static func trimmed(_ text: Substring) -> String {
        text.trimmingSpace().lowercased()
    }
}
