import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1

/// JSON that is sent somewhere, once.
enum HTTPCall {
    /// - Returns: the status; nil where nothing answers.
    static func send(
        _ method: HTTPMethod, _ body: Data, to url: String, timeout: TimeAmount = .seconds(30)
    ) async -> Int? {
        var request = HTTPClientRequest(url: url)
        request.method = method
        request.headers.add(name: "Content-Type", value: "application/json")
        request.body = .bytes(ByteBuffer(bytes: body))
        guard let response = try? await HTTPClient.shared.execute(request, timeout: timeout) else { return nil }
        return Int(response.status.code)
    }

    static func outcome(_ status: Int?) -> String { status.map { "HTTP \($0)" } ?? "no answer" }
}
