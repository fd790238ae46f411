import AsyncHTTPClient
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTP1

extension HTTP {
    /// Posts without a Content-Length, in chunks of 64 KiB.
    static func postChunked(_ url: String, headers: [String: String], body: Data) async throws -> Answer {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        let size = 64 << 10
        let chunks = stride(from: 0, to: body.count, by: size).map {
            ByteBuffer(data: body[$0..<min($0 + size, body.count)])
        }
        let stream = AsyncStream { stream in
            for chunk in chunks { stream.yield(chunk) }
            stream.finish()
        }
        request.body = .stream(stream, length: .unknown)
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(30))
        let collected = try await response.body.collect(upTo: 64 << 20)
        return Answer(status: Int(response.status.code), headers: response.headers, body: Data(buffer: collected))
    }
}
