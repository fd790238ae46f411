import HTTPTypes
import Hummingbird
import NIOCore

extension Response {
    init(_ reply: Reply) {
        var headers: HTTPFields = [.contentType: reply.contentType]
        for header in reply.headers {
            guard let name = HTTPField.Name(header.name) else { continue }
            headers[name] = header.value
        }
        self.init(
            status: .init(code: reply.status), headers: headers,
            body: .init(byteBuffer: ByteBuffer(bytes: reply.body)))
    }
}
