import Foundation
import NIOHTTP1
import Postgres

/// A relay that receives pushes of Google's simulator.
struct GoogleScene: StoreScene {
    let setup: Setup
    let google: OtherStores.Store
    let settings: [String: String]

    let store = "google"
    var simulator: OtherStores.Store { google }

    static let audience = "https://relay.example.test/google/notifications"

    static func run(_ more: [String: String] = [:], _ body: (GoogleScene) async throws -> Void) async throws {
        try await OtherStores.run { stores in
            let settings = stores.settings.merging(
                [
                    "RELAY_GOOGLE_PUSH_AUDIENCE": audience,
                    "RELAY_GOOGLE_PUSH_EMAIL": "push@example.iam.gserviceaccount.com",
                    "RELAY_GOOGLE_JWKS_URL": "\(stores.google.url)/oauth2/v3/certs",
                ].merging(more, uniquingKeysWith: { $1 }), uniquingKeysWith: { $1 })
            try await Setup.run(settings: settings) { setup in
                let scene = GoogleScene(setup: setup, google: stores.google, settings: settings)
                try await scene.push(to: setup.relay)
                try await body(scene)
            }
        }
    }

    /// Sets the target of notifications.
    func push(to relay: Relay) async throws {
        try await google.control(
            .PUT, "push", #"{"url":"\#(relay.url)/google/notifications","audience":"\#(Self.audience)"}"#)
    }

    /// Posts a purchase and waits until it is granted.
    ///
    /// - Returns: its validation.
    @discardableResult
    func buy(_ token: String, _ fields: String = "{}", by email: String = "ana@example.test") async throws -> String {
        try await google.has(token, fields)
        let id = try await post(token, by: email)
        _ = try await setup.relay.becomes("granted", id)
        return id
    }

    func post(_ token: String, by email: String = "ana@example.test", to relay: Relay? = nil) async throws -> String {
        try await post(token, product: "gold", by: email, to: relay)
    }

    func post(
        _ token: String, product: String, by email: String = "ana@example.test", to relay: Relay? = nil
    ) async throws -> String {
        let answer = try await answer(to: token, product: product, by: email, at: relay)
        guard let id = answer.json["validationId"].string else {
            throw HarnessError.failed("POST /android/payment", [answer.text])
        }
        return id
    }

    /// The relay's answer to a posted purchase, which may be an error.
    func answer(
        to token: String, product: String = "gold", by email: String, at relay: Relay? = nil
    ) async throws -> HTTP.Answer {
        let body: [String: Any] = [
            "customerEmail": email, "offerId": "S123456789_US",
            "receipt": ["productId": product, "purchaseToken": token, "packageName": "com.example.app"],
        ]
        return try await HTTP.post(
            (relay ?? setup.relay).url + "/android/payment",
            headers: ["Authorization": "Bearer \(setup.relay.keys.app)", "Content-Type": "application/json"],
            body: try JSONSerialization.data(withJSONObject: body))
    }

    /// Number of acknowledgements that Google received.
    func acknowledgements(_ token: String, of kind: String = "subscriptions") async throws -> Int {
        try await google.control(.GET, "\(kind)/\(token)").json["acknowledgements"].int ?? 0
    }
}
