import AppStoreSimulation
import Foundation
import NIOHTTP1

/// `app-store-simulator serve` as a separate process: Apple's answers to queries.
struct AppStoreAPI: Ends, Sendable {
    static let keyID = "SIMULATED1"
    static let issuerID = "57246542-96fe-1a63-e053-0824d011072a"

    /// A key of App Store Connect, in a file.
    struct Key: Sendable {
        let file: String

        static func make() async throws -> Key {
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).p8").path
            let made = try await ChildProcess.run("app-store-simulator", ["create-api-key", "--output", file])
            guard made.code == 0 else { throw HarnessError.failed("create-api-key", made.output) }
            return Key(file: file)
        }

        func end() { try? FileManager.default.removeItem(atPath: file) }
    }

    let process: ChildProcess
    let url: String
    let key: Key
    private let roots: URL

    /// Starts it with small pages, so that lists have more than one.
    static func start(signing store: TestAppStore) async throws -> AppStoreAPI {
        let roots = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: roots, withIntermediateDirectories: true)
        try store.transactions.write(to: roots, name: "transactions")
        try store.receipts.write(to: roots, name: "receipts")
        let key = try await Key.make()
        let process = try ChildProcess(
            "app-store-simulator",
            [
                "serve", "--roots", roots.path, "--port", "0", "--key-file", key.file, "--key-id", keyID,
                "--issuer-id", issuerID, "--bundle-id", "com.example.app", "--page-size", "2",
            ], environment: [:])
        guard let line = await process.line(where: { $0.contains("listening on ") }),
            let url = line.split(separator: " ").last
        else { throw HarnessError.notReady("app-store-simulator", process.output) }
        return AppStoreAPI(process: process, url: String(url), key: key, roots: roots)
    }

    func end() async {
        await process.end()
        key.end()
        try? FileManager.default.removeItem(at: roots)
    }

    /// Settings that let a relay call it.
    func settings(_ key: Key) -> [String: String] {
        [
            "RELAY_APPLE_API_KEY_FILE": key.file, "RELAY_APPLE_API_KEY_ID": Self.keyID,
            "RELAY_APPLE_API_ISSUER_ID": Self.issuerID, "RELAY_APPLE_API_SANDBOX_URL": url,
            "RELAY_APPLE_API_URL": "http://127.0.0.1:9", "RELAY_APPLE_ENVIRONMENTS": "Sandbox",
        ]
    }

    /// Sets the status of a subscription. With `nil` the status follows from its end.
    ///
    /// - Parameters:
    ///   - transaction: transaction of its newest period; `nil` makes one that no notification names.
    ///   - more: further fields, by the simulator's names.
    func tell(
        _ life: SimulatedSubscription, expiresAt: Date, status: Int? = nil,
        as transaction: SimulatedTransaction? = nil, _ more: [String: Int] = [:]
    ) async throws {
        var object: [String: Any] = [
            "productId": life.transaction.productId, "bundleId": "com.example.app",
            "expiresDate": Int(expiresAt.timeIntervalSince1970 * 1_000),
            "transactionId": transaction?.transactionId ?? TestPurchase.newTransactionID(),
        ]
        object["webOrderLineItemId"] = transaction?.webOrderLineItemId
        if let status { object["status"] = status }
        object.merge(more) { $1 }
        try await succeed(
            HTTP.call(
                .PUT, "\(url)/_simulator/subscriptions/\(life.originalTransactionId)",
                body: JSONSerialization.data(withJSONObject: object)))
    }

    /// Adds a notification to the history without delivering it.
    func lose(_ notification: SimulatedNotification, signedBy store: TestAppStore) async throws {
        try await succeed(
            HTTP.post(
                url + "/_simulator/notifications?sendAttemptResult=NO_RESPONSE",
                body: store.transactions.sign(notification)))
    }

    /// Sets the target of test notifications.
    func sendTests(to url: String) async throws {
        try await succeed(
            HTTP.call(.PUT, self.url + "/_simulator/notification-url", body: Data(#"{"url":"\#(url)"}"#.utf8)))
    }

    func sendTests(to relay: Relay) async throws { try await sendTests(to: relay.url + "/apple/notifications") }

    func trouble(_ json: String) async throws {
        try await succeed(HTTP.call(.PUT, url + "/_simulator/trouble", body: Data(json.utf8)))
    }

    func noTrouble() async throws { try await succeed(HTTP.call(.DELETE, url + "/_simulator/trouble")) }

    /// - Parameter name: a serial number, or `leaf`.
    func revoke(_ name: String) async throws {
        try await succeed(HTTP.call(.PUT, url + "/_simulator/revoked/\(name)"))
    }

    func restore(_ name: String) async throws {
        try await succeed(HTTP.call(.DELETE, url + "/_simulator/revoked/\(name)"))
    }

    /// Sets the answer to questions about certificates.
    func answerOCSP(_ answer: String) async throws {
        try await succeed(HTTP.call(.PUT, url + "/_simulator/ocsp", body: Data(#"{"answer":"\#(answer)"}"#.utf8)))
    }

    func requests() async throws -> [JSON] {
        try await succeed(HTTP.get(url + "/_simulator/requests")).json["items"].array ?? []
    }

    @discardableResult
    private func succeed(_ answer: HTTP.Answer) throws -> HTTP.Answer {
        guard (200..<300).contains(answer.status) else {
            throw HarnessError.failed("the App Store simulator's control API", [answer.text])
        }
        return answer
    }
}
