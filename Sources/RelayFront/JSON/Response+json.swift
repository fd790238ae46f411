import Formats
import HTTPTypes
import Hummingbird
import NIOCore

extension JSONWriter {
    var buffer: ByteBuffer { ByteBuffer(bytes: bytes) }
}

extension Response {
    static func json(_ writer: JSONWriter, status: HTTPResponse.Status = .ok) -> Response {
        json(writer.buffer, status: status)
    }

    /// `{}`: it is taken, and there is nothing more to say.
    static var taken: Response { json(ByteBuffer(string: "{}"), status: .ok) }

    private static func json(_ body: ByteBuffer, status: HTTPResponse.Status) -> Response {
        Response(
            status: status, headers: [.contentType: "application/json", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: body))
    }
}
