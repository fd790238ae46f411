import Foundation
import NIOHTTP1

/// The relay as a separate process, with keys of every role.
struct Relay: Ends, Sendable {
    let process: ChildProcess
    /// Address of the app front; empty for `--role worker`.
    let url: String
    let opsURL: String
    let database: TestDatabase
    let keys: Keys

    struct Keys: Sendable {
        var app: String
        var viewer: String
        var `operator`: String
    }

    /// Starts a relay, and waits until it is ready unless `isReady` is false.
    static func start(
        database: TestDatabase, simulator: Simulator, role: String = "all", keys: Keys? = nil, isReady: Bool = true,
        settings: [String: String] = [:]
    ) async throws -> Relay {
        var environment = [
            "RELAY_DATABASE_URL": database.url, "RELAY_HTTP_HOST": "127.0.0.1", "RELAY_HTTP_PORT": "0",
            "RELAY_OPS_PORT": "0", "RELAY_CLEENG_PUBLISHER_TOKEN": Simulator.token,
            "RELAY_CLEENG_PAYMENT_URL": simulator.url, "RELAY_CLEENG_API_URL": simulator.url,
            "RELAY_CLEENG_STOREKIT2_URL": simulator.url,
            // Long enough for any machine. A test that needs a deadline or a timeout sets its own, or moves deadlines
            // (`TestDatabase.letDeadlinesCome`).
            "RELAY_POLL_INTERVAL_SECONDS": "0.3", "RELAY_VALIDATION_TIMEOUT_SECONDS": "300",
            "RELAY_UPSTREAM_TIMEOUT_SECONDS": "20", "RELAY_LOG_LEVEL": "debug",
            // Each connection plans its statements, and all tests share the machine.
            "RELAY_DATABASE_CONNECTIONS": "2",
            // The tests' receipts have no valid signature.
            "RELAY_APPLE_VERIFICATION": "off",
        ]
        environment.merge(settings, uniquingKeysWith: { $1 })
        environment = environment.filter { !$0.value.isEmpty }
        let made = if let keys { keys } else { try await makeKeys(database) }
        let process = try ChildProcess("receipt-relay", ["serve", "--role", role], environment: environment)
        let ops = try await address(of: "ops front", process)
        let app = role == "worker" ? "" : try await address(of: "app front", process)
        if isReady {
            guard await process.line(where: { $0.contains("\"message\":\"ready\"") }) != nil else {
                throw HarnessError.notReady("receipt-relay", process.output)
            }
        }
        return Relay(process: process, url: app, opsURL: ops, database: database, keys: made)
    }

    private static func address(of front: String, _ process: ChildProcess) async throws -> String {
        guard let line = await process.line(where: { $0.contains("\(front) listening") }),
            let json = try? JSON(data: Data(line.utf8)),
            let port = json["port"].int ?? json["port"].string.flatMap({ Int($0) })
        else { throw HarnessError.notReady("receipt-relay", process.output) }
        return "http://127.0.0.1:\(port)"
    }

    /// A key of each role. A database that is a copy of the template has them already.
    static func makeKeys(_ database: TestDatabase) async throws -> Keys {
        if let keys = database.keys { return keys }
        return Keys(
            app: try await makeKey("app", database), viewer: try await makeKey("ops-viewer", database),
            operator: try await makeKey("ops-operator", database))
    }

    static func makeKey(
        _ role: String, _ database: TestDatabase, app: String? = nil, publisher: String? = nil,
        settings: [String: String] = [:]
    ) async throws -> String {
        let environment = ["RELAY_DATABASE_URL": database.url].merging(settings) { $1 }
        if let publisher, !["all", "main"].contains(publisher) {
            let added = try await ChildProcess.run(
                "receipt-relay", ["publishers", "add", publisher], environment: environment)
            guard added.code == 0 else { throw HarnessError.failed("publishers add", added.output) }
        }
        var arguments = ["keys", "create", "--role", role, "--name", "test \(role)"]
        if let app { arguments += ["--app", app] }
        if let publisher = publisher ?? (role.hasPrefix("ops-") ? "all" : nil) {
            arguments += ["--publisher", publisher]
        }
        let ended = try await ChildProcess.run("receipt-relay", arguments, environment: environment)
        guard ended.code == 0, ended.output.count == 1 else { throw HarnessError.failed("keys create", ended.output) }
        return ended.output[0]
    }

    // MARK: An app's calls

    func purchase(_ purchase: TestPurchase, key: String? = nil, headers: [String: String] = [:]) async throws
        -> HTTP.Answer
    {
        try await post(purchase.body, key: key, headers: headers)
    }

    func post(_ body: Data, key: String? = nil, headers: [String: String] = [:]) async throws -> HTTP.Answer {
        var all = ["Authorization": "Bearer \(key ?? keys.app)", "Content-Type": "application/json"]
        all.merge(headers, uniquingKeysWith: { $1 })
        return try await HTTP.post(url + "/apple/payment", headers: all, body: body)
    }

    func poll(_ id: String, wait: Int? = nil, key: String? = nil, headers: [String: String] = [:]) async throws
        -> HTTP.Answer
    {
        var all = ["Authorization": "Bearer \(key ?? keys.app)"]
        if let wait { all["Prefer"] = "wait=\(wait)" }
        all.merge(headers, uniquingKeysWith: { $1 })
        return try await HTTP.get(url + "/entitlements/\(id)", headers: all)
    }

    /// Polls, held, until the status is final.
    func outcome(_ id: String) async throws -> JSON {
        try await Awaiting.fact("validation \(id) is no longer pending") {
            try await poll(id, wait: 30).json
        } holds: {
            $0["status"].string != "pending"
        }
    }

    // MARK: Ops

    func ops(_ path: String, key: String? = nil) async throws -> HTTP.Answer {
        try await HTTP.get(opsURL + path, headers: ["Authorization": "Bearer \(key ?? keys.viewer)"])
    }

    func opsPost(_ path: String, reason: String = "a test", key: String? = nil) async throws -> HTTP.Answer {
        try await HTTP.post(
            opsURL + path,
            headers: ["Authorization": "Bearer \(key ?? keys.operator)", "Content-Type": "application/json"],
            body: Data("{\"reason\":\"\(reason)\"}".utf8))
    }

    func detail(_ id: String) async throws -> JSON {
        try await ops("/ops/validations/\(id)").json
    }

    /// The names of the timeline's events, in order.
    func events(_ id: String) async throws -> [String] {
        try await detail(id)["timeline"].array?.compactMap { $0["event"].string } ?? []
    }

    func end() async { await process.end() }
}
