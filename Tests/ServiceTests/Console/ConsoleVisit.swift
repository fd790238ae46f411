import AsyncHTTPClient
import Foundation
import NIOHTTP1

/// A browser without a window: keeps cookies, posts forms, and follows no redirect by itself.
struct ConsoleVisit {
    var url: String
    var cookie: String?

    private static let client = HTTPClient(
        eventLoopGroupProvider: .singleton, configuration: .init(redirectConfiguration: .disallow))

    init(_ relay: Relay) { url = relay.opsURL }

    func get(_ path: String) async throws -> HTTP.Answer {
        try await HTTP.call(.GET, url + path, headers: headers, client: Self.client)
    }

    func post(_ path: String, _ fields: [String: String], headers more: [String: String] = [:]) async throws
        -> HTTP.Answer
    {
        let body = fields.map { "\($0.key)=\(Self.encoded($0.value))" }.joined(separator: "&")
        return try await HTTP.post(
            url + path,
            headers: headers.merging(["Content-Type": "application/x-www-form-urlencoded"]) { $1 }.merging(more) { $1 },
            body: Data(body.utf8), client: Self.client)
    }

    /// - Returns: the form's answer.
    @discardableResult
    mutating func signIn(_ key: String) async throws -> HTTP.Answer {
        let answer = try await post("/console/sign-in", ["key": key])
        cookie = answer.header("Set-Cookie").flatMap { $0.split(separator: ";").first.map(String.init) }
        return answer
    }

    /// Token in the page's forms.
    func formToken(_ path: String = "/") async throws -> String {
        let page = try await get(path).text
        guard let match = page.firstMatch(of: /name="token" value="([0-9a-f]{64})"/) else {
            throw HarnessError.failed("a form's token", [page])
        }
        return String(match.1)
    }

    private var headers: [String: String] { cookie.map { ["Cookie": $0] } ?? [:] }

    private static func encoded(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    }
}
