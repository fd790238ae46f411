import Foundation
import NIOHTTP1

/// A relay that receives notifications of Roku's simulator.
struct RokuScene: StoreScene {
    let setup: Setup
    let roku: OtherStores.Store
    let settings: [String: String]
    let store = "roku"
    var simulator: OtherStores.Store { roku }

    static func run(
        _ more: [String: String?] = [:], form: String = "signed", _ body: (RokuScene) async throws -> Void
    ) async throws {
        try await OtherStores.runRoku { roku, standard in
            var settings = standard
            for (name, value) in more { settings[name] = value }
            try await Setup.run(settings: settings) { setup in
                let scene = RokuScene(setup: setup, roku: roku, settings: settings)
                try await scene.push(form)
                try await body(scene)
            }
        }
    }

    func push(to relay: Relay) async throws { try await push("signed", to: relay) }

    /// Sets the target and the form of notifications.
    func push(_ form: String, to relay: Relay? = nil, requiresAPIKey: Bool = false) async throws {
        try await roku.control(
            .PUT, "push",
            #"{"url":"\#((relay ?? setup.relay).url)/roku/notifications","form":"\#(form)","requiresApiKey":\#(requiresAPIKey)}"#
        )
    }

    /// Posts a purchase and waits until it is granted.
    ///
    /// - Returns: its validation.
    @discardableResult
    func buy(_ id: String, _ fields: String = "{}", by email: String = "ana@example.test") async throws -> String {
        try await roku.has(id, fields)
        let validation = try await post(id, by: email)
        _ = try await setup.relay.becomes("granted", validation)
        return validation
    }

    func post(_ id: String, by email: String = "ana@example.test", to relay: Relay? = nil) async throws -> String {
        let order: [String: Any] = [
            "purchaseId": id, "code": "gold", "amount": "$9.99", "qty": 1, "total": 10.5,
        ]
        let answer = try await answer(toOrder: order, by: email, to: relay)
        guard let id = answer.json["validationId"].string else {
            throw HarnessError.failed("POST /roku/payment", [answer.text])
        }
        return id
    }

    func answer(
        toOrder order: Any, by email: String = "ana@example.test", to relay: Relay? = nil
    ) async throws -> HTTP.Answer {
        let body: [String: Any] = ["customerEmail": email, "offerId": "S123456789_US", "order": order]
        return try await HTTP.post(
            (relay ?? setup.relay).url + "/roku/payment",
            headers: ["Authorization": "Bearer \(setup.relay.keys.app)", "Content-Type": "application/json"],
            body: try JSONSerialization.data(withJSONObject: body))
    }

    /// Posts a body to the route, like an external client.
    func deliver(_ body: String) async throws -> HTTP.Answer {
        try await HTTP.post(setup.relay.url + "/roku/notifications", headers: [:], body: Data(body.utf8))
    }
}
