import AppStoreSimulation
import Foundation
import NIOHTTP1
import Postgres
import Testing

/// A relay that receives Apple's consumption requests, with `app-store-simulator serve` in Apple's place.
struct ConsumptionScene {
    static let customer = "ana@example.test"

    let setup: Setup
    let store: TestAppStore
    let api: AppStoreAPI
    let publisherKey: String
    let settings: [String: String]

    static func run(_ body: (ConsumptionScene) async throws -> Void) async throws {
        let store = try TestAppStore()
        defer { store.end() }
        let api = try await AppStoreAPI.start(signing: store)
        let settings = store.settings(relayingTo: nil, api.settings(api.key))
        try await api.during {
            try await Setup.run(settings: settings) { setup in
                try await body(
                    ConsumptionScene(
                        setup: setup, store: store, api: api,
                        publisherKey: try await Relay.makeKey("publisher", setup.database), settings: settings))
            }
        }
    }

    /// A granted subscription that Apple knows.
    func buy(_ email: String = Self.customer) async throws -> SimulatedSubscription {
        var life = try store.subscription()
        life.bought(at: Date())
        try await api.tell(life, expiresAt: Date().addingTimeInterval(86_400), as: life.transaction)
        let answer = try await setup.relay.purchase(try store.purchase(life, email: email))
        let id = try #require(answer.json["validationId"].string, "\(answer.text)")
        #expect(try await setup.relay.outcome(id)["status"].string == "granted")
        return life
    }

    /// Apple's notification after the customer's refund request.
    func request(_ life: SimulatedSubscription) -> SimulatedNotification {
        var notification = SimulatedNotification(
            notificationType: "CONSUMPTION_REQUEST", notificationUUID: UUID().uuidString.lowercased(),
            bundleId: life.bundleId, status: .active, transaction: life.transaction, signedDate: Date())
        notification.consumptionRequestReason = "UNINTENDED_PURCHASE"
        return notification
    }

    func ask(_ life: SimulatedSubscription) async throws {
        #expect(try await setup.relay.notify(request(life), signedBy: store).status == 200)
    }

    @discardableResult
    func say(_ json: String, of customer: String = Self.customer, key: String? = nil) async throws -> HTTP.Answer {
        try await HTTP.call(
            .PUT, setup.relay.url + "/v2/customers/\(customer)/consumption?appName=main&apiKey=\(key ?? publisherKey)",
            headers: ["Content-Type": "application/json"], body: Data(json.utf8))
    }

    func consent(of customer: String = Self.customer) async throws {
        let answer = try await say(
            #"{"customerConsented":true,"consumptionPercentage":50000,"refundPreference":"DECLINE","userStatus":"ACTIVE"}"#,
            of: customer)
        #expect(answer.status == 200, "\(answer.text)")
    }

    func requests(_ query: String = "", at relay: Relay? = nil) async throws -> [JSON] {
        try await (relay ?? setup.relay).ops("/ops/consumption-requests\(query)").json["items"].array ?? []
    }

    @discardableResult
    func becomes(_ state: String, at relay: Relay? = nil) async throws -> JSON {
        let found = try await Awaiting.fact("the request is \(state)", within: .seconds(60)) {
            try await requests(at: relay).first
        } holds: {
            $0?["state"].string == state
        }
        return try #require(found)
    }

    /// Answers that Apple received.
    func told() async throws -> [JSON] {
        try await HTTP.get(api.url + "/_simulator/consumption").json["items"].array ?? []
    }

    /// Ends pauses and leases.
    func hurry() async throws {
        _ = try await setup.database.query(
            SQL("UPDATE consumption_requests SET due_at = now() WHERE state <= 2"))
    }

    func letDeadlinesCome() async throws {
        _ = try await setup.database.query(
            SQL("UPDATE consumption_requests SET deadline = now(), due_at = now() WHERE state <= 2"))
    }
}
