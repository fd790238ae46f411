import HTTPTypes
import Hummingbird
import NIOCore

/// Reads a body that should be JSON, within its bounds.
struct BodyReader: Sendable {
    let maximumBytes: Int

    /// - Parameters:
    ///   - loan: takes what arrives, where memory has to be accounted for.
    ///   - ofAnyType: whatever the sender calls it.
    /// - Throws: ``Problem``: 415 before the body is read, 413 as early as it shows, 503 where too much is being read.
    func read(
        _ request: Request, on loan: BodyLoan? = nil, ofAnyType: Bool = false
    ) async throws -> ByteBuffer {
        guard ofAnyType || MediaTypeHeader.isJSON(request.headers[.contentType]) else {
            throw Problem(.unsupportedMediaType, "send application/json", headers: [.accept: "application/json"])
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
