import AppStoreSimulation
import Foundation
import NIOHTTP1
import Postgres

/// A publisher's billing client and a relay, with the test's own App Store.
struct BillingScene {
    var scene: PublisherScene
    var token: String
    var relay: Relay { scene.relay }

    static func run(settings: [String: String] = [:], _ body: (inout BillingScene) async throws -> Void) async throws {
        try await PublisherScene.run(settings: settings) { scene in
            scene.life.bought(at: Date())
            var billing = BillingScene(scene: scene, token: "")
            billing.token = try await billing.grant(key: scene.key)
            try await body(&billing)
        }
    }

    /// Requests a token like tap-billwerk: the client's credentials are form fields.
    func grant(key: String, publisher: String = "main") async throws -> String {
        let answer = try await form("grant_type=client_credentials&client_id=\(publisher)&client_secret=\(key)")
        guard let token = answer.json["access_token"].string else {
            throw HarnessError.failed("a token", [answer.text])
        }
        return token
    }

    func form(
        _ body: String, path: String = "/oauth/token", headers: [String: String] = [:]
    ) async throws -> HTTP.Answer {
        var all = ["Content-Type": "application/x-www-form-urlencoded"]
        all.merge(headers, uniquingKeysWith: { $1 })
        return try await HTTP.post(relay.url + path, headers: all, body: Data(body.utf8))
    }

    func call(
        _ method: HTTPMethod, _ path: String, _ body: String? = nil, token: String? = nil,
        headers: [String: String] = [:]
    ) async throws -> HTTP.Answer {
        var all = ["Authorization": "Bearer \(token ?? self.token)"]
        if body != nil { all["Content-Type"] = "application/json" }
        all.merge(headers, uniquingKeysWith: { $1 })
        return try await HTTP.call(
            method, relay.url + "/api/v1" + path, headers: all, body: body.map { Data($0.utf8) })
    }

    func get(_ path: String, token: String? = nil) async throws -> HTTP.Answer {
        try await call(.GET, path, token: token)
    }

    func post(_ path: String, _ body: String? = nil, token: String? = nil) async throws -> HTTP.Answer {
        try await call(.POST, path, body, token: token)
    }

    func receipt(_ life: SimulatedSubscription? = nil) throws -> String {
        Data(try scene.store.receipts.sign((life ?? scene.life).receipt(at: Date()))).base64EncodedString()
    }

    func check(receipt: String, token: String? = nil) async throws -> HTTP.Answer {
        try await post(
            "/ExternalSubscriptions/check", #"{"Type":"AppleIap","AppleIapReceipt":"\#(receipt)"}"#, token: token)
    }

    /// External id of the only subscription in the receipt.
    func externalID(_ life: SimulatedSubscription? = nil, token: String? = nil) async throws -> String {
        let answer = try await check(receipt: try receipt(life), token: token)
        guard answer.status == 200, answer.json["Subscriptions"].array?.count == 1,
            let id = answer.json["Subscriptions"][0]["Id"].string
        else { throw HarnessError.failed("a check", [answer.text]) }
        return id
    }

    /// All steps from the receipt to the contract.
    func contract(_ life: SimulatedSubscription? = nil) async throws -> JSON {
        let order = try await post(
            "/Orders", #"{"ExternalSubscriptionId":"\#(try await externalID(life))","Customer":{"FirstName":"Ana"}}"#)
        let committed = try await post("/Orders/\(order.json["Id"].string ?? "?")/commit")
        guard order.status == 201, committed.status == 200 else {
            throw HarnessError.failed("a contract", [order.text, committed.text])
        }
        return committed.json
    }

    /// Queued messages to endpoints, sorted by text.
    func messages() async throws -> [String] {
        try await scene.setup.database.query(SQL("SELECT body FROM webhook_deliveries ORDER BY body")).map {
            try $0.get(0, as: String.self)
        }
    }
}
