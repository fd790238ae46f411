import AppStoreSimulation
import Foundation

/// One app, one subscription in its own App Store, and the publisher's back end.
struct PublisherScene {
    var setup: Setup
    var store: TestAppStore
    var life: SimulatedSubscription
    /// A key of the role `publisher`.
    var key: String
    var relay: Relay { setup.relay }

    static func run(
        period: TimeInterval = 86_400, settings: [String: String] = [:],
        _ body: (inout PublisherScene) async throws -> Void
    ) async throws {
        let store = try TestAppStore()
        defer { store.end() }
        try await Setup.run(settings: store.settings(relayingTo: nil, settings)) { setup in
            let key = try await Relay.makeKey("publisher", setup.database)
            var scene = PublisherScene(
                setup: setup, store: store, life: try store.subscription(period: period), key: key)
            try await body(&scene)
        }
    }

    /// Posts a purchase and waits until it is granted.
    @discardableResult
    func buy(_ email: String, username: String? = nil) async throws -> String {
        var purchase = try store.purchase(life, email: email)
        purchase.extra["applicationUsername"] = username
        let answer = try await relay.purchase(purchase)
        guard let id = answer.json["validationId"].string else {
            throw HarnessError.failed("a purchase", [answer.text])
        }
        let outcome = try await relay.outcome(id)
        guard outcome["status"].string == "granted" else { throw HarnessError.failed("a grant", ["\(outcome)"]) }
        return id
    }

    func tell(_ notification: SimulatedNotification) async throws {
        let answer = try await relay.notify(notification, signedBy: store)
        guard answer.status == 200 else { throw HarnessError.failed("a notification", [answer.text]) }
    }

    /// Reads a path with Basic credentials, of `main` by default.
    func get(_ path: String, publisher: String = "main", key: String? = nil) async throws -> HTTP.Answer {
        try await relay.get(path, publisher: publisher, key: key ?? self.key)
    }

    func purchases(_ username: String) async throws -> JSON {
        try await get(Relay.purchasesPath(username)).json["purchases"]
    }

    static func base64(_ text: String) -> String { Data(text.utf8).base64EncodedString() }
}

extension Relay {
    /// Reads a path with a publisher's Basic credentials.
    func get(_ path: String, publisher: String = "main", key: String) async throws -> HTTP.Answer {
        try await HTTP.get(
            url + path, headers: ["Authorization": "Basic " + PublisherScene.base64("\(publisher):\(key)")])
    }

    /// The customer's purchases as the publisher's back end reads them. Fails without a successful answer.
    func purchases(_ username: String, key: String) async throws -> [String: JSON] {
        let answer = try await get(Self.purchasesPath(username), key: key)
        guard answer.status == 200, let purchases = answer.json["purchases"].object else {
            throw HarnessError.failed("a customer's purchases", ["\(answer.status) \(answer.text)"])
        }
        return purchases
    }

    fileprivate static func purchasesPath(_ username: String) -> String {
        var allowed = CharacterSet.alphanumerics
        allowed.insert(charactersIn: "-._~")
        let encoded = username.addingPercentEncoding(withAllowedCharacters: allowed) ?? username
        return "/v2/customers/\(encoded)/purchases"
    }
}
