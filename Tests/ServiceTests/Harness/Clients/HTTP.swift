import AsyncHTTPClient
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTP1

/// One call and its answer.
enum HTTP {
    struct Answer: Sendable {
        var status: Int
        var headers: HTTPHeaders
        var body: Data
        var json: JSON { (try? JSON(data: body)) ?? .null }
        var text: String { String(decoding: body, as: UTF8.self) }
        func header(_ name: String) -> String? { headers.first(name: name) }
    }

    static func get(_ url: String, headers: [String: String] = [:], timeout: Duration = .seconds(70)) async throws
        -> Answer
    {
        try await call(.GET, url, headers: headers, timeout: timeout)
    }

    /// - Parameter client: the shared client tries for the whole timeout to reach a server that does not run.
    static func post(
        _ url: String, headers: [String: String] = [:], body: Data, timeout: Duration = .seconds(70),
        client: HTTPClient = .shared
    ) async throws -> Answer {
        try await call(.POST, url, headers: headers, body: body, timeout: timeout, client: client)
    }

    static func call(
        _ method: HTTPMethod, _ url: String, headers: [String: String] = [:], body: Data? = nil,
        timeout: Duration = .seconds(70), client: HTTPClient = .shared
    ) async throws -> Answer {
        var request = HTTPClientRequest(url: url)
        request.method = method
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        if let body { request.body = .bytes(ByteBuffer(data: body)) }
        do {
            return try await execute(request, timeout, client)
        } catch ChannelError.ioOnClosedChannel where method != .POST {
            // The server closed an idle connection at the moment of its reuse, so the call is repeated on a new one.
            return try await execute(request, timeout, client)
        }
    }

    private static func execute(
        _ request: HTTPClientRequest, _ timeout: Duration, _ client: HTTPClient
    ) async throws -> Answer {
        let response = try await client.execute(
            request, timeout: .nanoseconds(Int64(timeout.components.seconds) * 1_000_000_000))
        let collected = try await response.body.collect(upTo: 64 << 20)
        return Answer(status: Int(response.status.code), headers: response.headers, body: Data(buffer: collected))
    }
}
