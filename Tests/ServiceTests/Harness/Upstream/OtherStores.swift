import Foundation
import NIOHTTP1

/// `store-simulator`, twice, as processes of their own: Google Play and the Amazon Appstore.
struct OtherStores: Sendable {
    /// One of them, and what a test tells it.
    struct Store: Sendable {
        let process: ChildProcess
        let url: String

        fileprivate static func start(_ arguments: [String]) async throws -> Store {
            let process = try ChildProcess("store-simulator", arguments + ["--port", "0"], environment: [:])
            guard let line = await process.line(where: { $0.contains("listening on ") }),
                let url = line.split(separator: " ").last
            else { throw HarnessError.notReady("store-simulator", process.output) }
            return Store(process: process, url: String(url))
        }

        /// A purchase, by its token or receipt id.
        func has(_ name: String, _ json: String = "{}") async throws {
            try await control(.PUT, "subscriptions/\(name)", json)
        }

        /// `expire`, `forget`, ….
        func act(_ act: String, _ name: String) async throws {
            try await control(.POST, "subscriptions/\(name)/\(act)", "{}")
        }

        func trouble(_ json: String?) async throws {
            try await control(json == nil ? .DELETE : .PUT, "trouble", json ?? "")
        }

        /// The calls for purchases that it has had.
        func questions() async throws -> Int {
            let items = try await control(.GET, "requests").json["items"].array ?? []
            return items.filter { $0["method"].string == "GET" }.count
        }

        @discardableResult
        func control(_ method: HTTPMethod, _ path: String, _ json: String? = nil) async throws -> HTTP.Answer {
            let answer = try await HTTP.call(
                method, "\(url)/control/\(path)", headers: ["Content-Type": "application/json"],
                body: json.map { Data($0.utf8) })
            guard (200..<300).contains(answer.status) else {
                throw HarnessError.failed("the store simulator's control API", [answer.text])
            }
            return answer
        }
    }

    let google: Store
    let amazon: Store
    private let account: String

    private static let secret = "shared-secret"

    static func run(_ body: (OtherStores) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let account = folder.appendingPathComponent("account.json").path
        let made = try await ChildProcess.run(
            "store-simulator", ["google", "create-service-account", "--out", account])
        guard made.code == 0 else { throw HarnessError.failed("create-service-account", made.output) }
        let google = try await Store.start(["google", "--service-account", account])
        let amazon: Store
        do {
            amazon = try await Store.start(["amazon", "--shared-secret", secret])
        } catch {
            await google.process.end()
            throw error
        }
        do {
            try await body(OtherStores(google: google, amazon: amazon, account: account))
        } catch {
            await google.process.end()
            await amazon.process.end()
            throw error
        }
        await google.process.end()
        await amazon.process.end()
    }

    /// What lets a relay ask them.
    var settings: [String: String] {
        [
            "RELAY_GOOGLE_SERVICE_ACCOUNT_FILE": account, "RELAY_GOOGLE_API_URL": google.url,
            "RELAY_GOOGLE_TOKEN_URL": "\(google.url)/token", "RELAY_AMAZON_SHARED_SECRET": Self.secret,
            "RELAY_AMAZON_RVS_URL": amazon.url,
            // With `off` they are not asked while an app waits.
            "RELAY_APPLE_VERIFICATION": "observe",
        ]
    }
}
