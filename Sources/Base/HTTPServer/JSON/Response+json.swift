package import Formats
package import Hummingbird

extension JSONWriter {
    package var buffer: ByteBuffer { ByteBuffer(bytes: bytes) }
}

extension Response {
    /// An answer with the JSON that `write` writes.
    ///
    /// - Parameter capacity: bytes reserved at the beginning.
    package static func json(
        _ status: HTTPResponse.Status = .ok, capacity: Int = 512, _ write: (inout JSONWriter) throws -> Void
    ) rethrows -> Response {
        var writer = JSONWriter(capacity: capacity)
        try write(&writer)
        return json(writer.buffer, status: status)
    }

    /// The answer `{}`: accepted, without further content.
    package static var taken: Response { json(ByteBuffer(string: "{}")) }

    package static func json(_ body: ByteBuffer, status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status, headers: [.contentType: "application/json", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: body))
    }
}
