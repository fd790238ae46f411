import AsyncHTTPClient
import Foundation

/// The simulated Cleeng as a separate process.
struct Simulator: Ends, Sendable {
    static let token = "pub_tok_of_the_tests_48_characters_long_as_real_0"

    let process: ChildProcess
    let url: String

    static func start(grantAfter: Double = 0, port: Int = 0, token: String = token) async throws -> Simulator {
        let process = try ChildProcess(
            "cleeng-simulator",
            ["--port", "\(port)", "--publisher-token", token, "--grant-after", "\(grantAfter)"])
        guard let line = await process.line(where: { $0.contains("listening on http://") }),
            let url = line.split(separator: " ").last.map(String.init)
        else { throw HarnessError.notReady("cleeng-simulator", process.output) }
        return Simulator(process: process, url: url)
    }

    /// Requests to a path, in order.
    func requests(path: String? = nil, customerEmail: String? = nil) async throws -> [JSON] {
        var query: [URLQueryItem] = []
        if let path { query.append(URLQueryItem(name: "path", value: path)) }
        if let customerEmail { query.append(URLQueryItem(name: "customerEmail", value: customerEmail)) }
        var parts = URLComponents(string: url + "/_simulator/requests")
        parts?.queryItems = query
        let answer = try await HTTP.get(parts?.string ?? "")
        return answer.json["items"].array ?? []
    }

    func end() async { await process.end() }
}
