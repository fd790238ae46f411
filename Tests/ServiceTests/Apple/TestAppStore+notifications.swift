import AppStoreSimulation
import Foundation

extension TestAppStore {
    static let secret = "the-secret-of-the-tests"

    /// Settings with enforced verification and everything that notifications need. Cleeng is the simulator.
    func settings(relayingTo simulator: Simulator?, _ more: [String: String] = [:]) -> [String: String] {
        var settings = settings("enforce")
        settings["RELAY_APPLE_SHARED_SECRET"] = Self.secret
        settings["RELAY_CLEENG_PUBLISHER_ID"] = "123456789"
        settings["RELAY_CLEENG_NOTIFICATION_URL"] = simulator.map { $0.url + Self.path("{publisherId}") } ?? "off"
        return settings.merging(more, uniquingKeysWith: { $1 })
    }

    static func path(_ publisher: String) -> String {
        "/1.0/in_app/subscriptions/apple/status_update_notification/\(publisher)"
    }

    /// A subscription with its own number.
    func subscription(period: TimeInterval = 86_400) throws -> SimulatedSubscription {
        guard let number = Int64(TestPurchase.newTransactionID()) else { throw HarnessError.failed("a number", []) }
        return SimulatedSubscription(firstTransactionId: number, period: period)
    }

    /// The purchase that an app posts for the subscription's present state: the newest transaction, signed.
    func purchase(_ life: SimulatedSubscription, email: String) throws -> TestPurchase {
        var purchase = TestPurchase(
            email: email, original: life.originalTransactionId, transactionID: life.transaction.transactionId)
        purchase.receipt = try transactions.sign(json: life.transaction.json(signedDate: Date()))
        return purchase
    }
}

extension Relay {
    /// Posts a notification like Apple.
    func notify(_ body: Data, headers: [String: String] = ["Content-Type": "application/json"]) async throws
        -> HTTP.Answer
    {
        try await HTTP.post(url + "/apple/notifications", headers: headers, body: body)
    }

    func notify(_ notification: SimulatedNotification, signedBy store: TestAppStore) async throws -> HTTP.Answer {
        try await notify(try store.transactions.sign(notification))
    }

    func status(_ id: String) async throws -> JSON { try await poll(id).json }

    /// The sandbox ledger of the subscription, as the ops API shows it.
    func subscription(_ life: SimulatedSubscription) async throws -> JSON {
        try await ops("/ops/subscriptions?originalTransactionId=\(life.originalTransactionId)").json["items"][0]
    }
}
