import Foundation
import NIOHTTP1
import TestSupport

/// Two processes of `store-simulator`: Google Play and the Amazon Appstore.
struct OtherStores: Sendable {
    /// One simulated store and its control API.
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

        /// Adds a purchase by its token or receipt id.
        func has(_ name: String, _ json: String = "{}") async throws {
            try await control(.PUT, "subscriptions/\(name)", json)
        }

        /// Changes a purchase: `expire`, `forget`, ….
        func act(_ act: String, _ name: String, _ fields: String = "{}") async throws {
            try await control(.POST, "subscriptions/\(name)/\(act)", fields)
        }

        func trouble(_ json: String?) async throws {
            try await control(json == nil ? .DELETE : .PUT, "trouble", json ?? "")
        }

        /// Number of calls for purchases.
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

    /// One account for all tests, since its key takes a second to make.
    private static let serviceAccount = Once {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: file) }
        let made = try await ChildProcess.run(
            "store-simulator", ["google", "create-service-account", "--out", file.path])
        guard made.code == 0 else { throw HarnessError.failed("create-service-account", made.output) }
        return try Data(contentsOf: file)
    }

    static func run(_ body: (OtherStores) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let account = folder.appendingPathComponent("account.json").path
        try await serviceAccount.value().write(to: URL(fileURLWithPath: account))
        let google = try await Store.start(["google", "--service-account", account])
        try await google.process.during {
            let amazon = try await Store.start(["amazon", "--shared-secret", secret])
            try await amazon.process.during {
                try await body(OtherStores(google: google, amazon: amazon, account: account))
            }
        }
    }

    /// Runs only Amazon, with settings that let a relay accept its messages.
    static func runAmazon(_ body: (Store, [String: String]) async throws -> Void) async throws {
        let certificate = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).pem")
        defer { try? FileManager.default.removeItem(at: certificate) }
        let amazon = try await Store.start(
            ["amazon", "--shared-secret", secret, "--certificate-out", certificate.path])
        let settings = [
            "RELAY_AMAZON_SHARED_SECRET": secret, "RELAY_AMAZON_RVS_URL": amazon.url,
            "RELAY_AMAZON_SNS_TOPICS": topic, "RELAY_AMAZON_SNS_CERT_FILE": certificate.path,
            "RELAY_AMAZON_SNS_URL": "\(amazon.url)/sns/confirm", "RELAY_WEBHOOK_ALLOW_NETWORKS": "127.0.0.0/8",
            "RELAY_APPLE_VERIFICATION": "observe",
        ]
        try await amazon.process.during {
            try await body(amazon, settings)
        }
    }

    /// Runs only Roku, with settings that let a relay call it and accept its notifications.
    static func runRoku(_ body: (Store, [String: String]) async throws -> Void) async throws {
        let roku = try await Store.start(["roku", "--api-key", rokuKey])
        let settings = [
            "RELAY_ROKU_API_KEY": rokuKey, "RELAY_ROKU_API_URL": roku.url,
            "RELAY_ROKU_JWKS_URL": "\(roku.url)/keys/partner-jwks.json", "RELAY_APPLE_VERIFICATION": "observe",
        ]
        try await roku.process.during {
            try await body(roku, settings)
        }
    }

    static let rokuKey = "0123456789abcdef-SECRET-0123456789ab"

    /// Topic of the simulated SNS.
    static let topic = "arn:aws:sns:us-east-1:123456789012:example"

    /// Settings that let a relay call the stores.
    var settings: [String: String] {
        [
            "RELAY_GOOGLE_SERVICE_ACCOUNT_FILE": account, "RELAY_GOOGLE_API_URL": google.url,
            "RELAY_GOOGLE_TOKEN_URL": "\(google.url)/token", "RELAY_AMAZON_SHARED_SECRET": Self.secret,
            "RELAY_AMAZON_RVS_URL": amazon.url,
            // With `off`, the stores are not asked while an app waits.
            "RELAY_APPLE_VERIFICATION": "observe",
        ]
    }
}
