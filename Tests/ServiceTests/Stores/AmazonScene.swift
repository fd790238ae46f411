import Foundation
import NIOHTTP1

/// A relay that receives messages of Amazon's simulator by SNS.
struct AmazonScene: StoreScene {
    let setup: Setup
    let amazon: OtherStores.Store
    let settings: [String: String]
    let store = "amazon"
    var simulator: OtherStores.Store { amazon }

    /// - Parameter isConfirmed: whether the subscription is confirmed beforehand.
    static func run(
        _ more: [String: String?] = [:], isConfirmed: Bool = true, _ body: (AmazonScene) async throws -> Void
    ) async throws {
        try await OtherStores.runAmazon { amazon, standard in
            var settings = standard
            for (name, value) in more { settings[name] = value }
            try await Setup.run(settings: settings) { setup in
                let scene = AmazonScene(setup: setup, amazon: amazon, settings: settings)
                try await scene.push(to: setup.relay, isConfirmed: isConfirmed)
                try await body(scene)
            }
        }
    }

    /// Sets the target of messages.
    func push(to relay: Relay) async throws { try await push(to: relay, isConfirmed: true) }

    func push(to relay: Relay, isConfirmed: Bool, version: String = "1") async throws {
        try await amazon.control(
            .PUT, "push",
            #"{"url":"\#(relay.url)/amazon/notifications","confirmed":\#(isConfirmed),"signatureVersion":"\#(version)"}"#
        )
    }

    /// Posts a purchase and waits until it is granted.
    ///
    /// - Returns: its validation.
    @discardableResult
    func buy(_ receipt: String, _ fields: String = "{}", by email: String = "ana@example.test") async throws -> String {
        try await amazon.has(receipt, fields)
        let id = try await post(receipt, by: email)
        _ = try await setup.relay.becomes("granted", id)
        return id
    }

    func post(_ receipt: String, by email: String = "ana@example.test", to relay: Relay? = nil) async throws -> String {
        let body: [String: Any] = [
            "customerEmail": email, "offerId": "S123456789_US",
            "receipt": ["userId": "user-1", "receiptId": receipt],
        ]
        let answer = try await HTTP.post(
            (relay ?? setup.relay).url + "/amazon/payment",
            headers: ["Authorization": "Bearer \(setup.relay.keys.app)", "Content-Type": "application/json"],
            body: try JSONSerialization.data(withJSONObject: body))
        guard let id = answer.json["validationId"].string else {
            throw HarnessError.failed("POST /amazon/payment", [answer.text])
        }
        return id
    }

    /// Status of the topic's subscription in the ops API.
    func topic() async throws -> JSON {
        let stores = try await setup.relay.ops("/ops/summary").json["stores"]
        let index = stores.array?.firstIndex { $0["store"].string == "amazon" } ?? 0
        return stores[index]["topics"][0]
    }
}
