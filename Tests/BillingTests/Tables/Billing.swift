import Foundation
import Postgres
import RelayCore

@testable import Billing
@testable import Relay

/// A publisher's calls to billing, as the front makes them.
struct Billing {

    var store: RelayStore
    var database: TestDatabase
    var publisher = "main"

    /// A subscription with some more days, as a check finds it.
    func check(_ key: String, environment: String = "Sandbox", days: Int64 = 1) async throws -> CheckedSubscription {
        let now = try await database.now()
        let word = LedgerStatement(periods: [
            LedgerPeriod(
                id: TransactionID(key), productID: "com.example.monthly", purchasedAt: now,
                expiresAt: now + .seconds(days * 86_400),
                statedAt: now)
        ])
        let checked = try await record([
            ExternalSubscription(
                key: TransactionID(key), environment: StoreEnvironment(environment), statement: word,
                bundleID: "com.example.app")
        ])
        guard let one = checked.first, checked.count == 1 else { throw Unexpected("\(checked)") }
        return one
    }

    func record(
        _ found: [ExternalSubscription], _ publisher: PublisherID? = nil
    ) async throws -> [CheckedSubscription] {
        try await store.orders.record(
            found, publisher: publisher ?? PublisherID(self.publisher))
    }

    func add(
        _ subscription: BillingID, _ party: NewOrder.Party = .newCustomer(details: "{}")
    ) async throws -> OrderOutcome {
        try await store.orders.add(
            NewOrder(publisher: PublisherID(publisher), externalSubscription: subscription, party: party))
    }

    func order(
        _ subscription: BillingID, _ party: NewOrder.Party = .newCustomer(details: "{}")
    ) async throws -> BillingOrder {
        let outcome = try await add(subscription, party)
        guard case .created(let order) = outcome else { throw Unexpected("\(outcome)") }
        return order
    }

    func commit(_ order: BillingOrder, by store: RelayStore? = nil) async throws -> CommitOutcome {
        try await (store ?? self.store).orders.commit(order.id, publisher: PublisherID(publisher))
    }

    func contract(of subscription: BillingID) async throws -> BillingContract {
        let order = try await order(subscription)
        guard case .contract(let contract) = try await commit(order) else { throw Unexpected("no contract") }
        return contract
    }

    /// Events of the messages to all endpoints, sorted by name.
    func messages() async throws -> [String] {
        try await database.column("SELECT body FROM webhook_deliveries ORDER BY body", as: String.self)
    }

    func events() async throws -> [String] {
        try await messages().map { body in
            let json = try JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any]
            return json?["Event"] as? String ?? "?"
        }.sorted()
    }

    /// Adds an endpoint that receives all events.
    func listen() async throws {
        _ = try await store.webhooks.addEndpoint(
            publisher: PublisherID(publisher), kind: .events(BillingEvent.allCases.map(\.rawValue)),
            url: "https://example.test/")
    }

    struct Unexpected: Error {
        var what: String
        init(_ what: String) { self.what = what }
    }

    static func run(_ body: (Billing) async throws -> Void) async throws {
        try await withStore { database, store in
            try await store.webhooks.ensureFirstPublisher()
            try await body(Billing(store: store, database: database))
        }
    }
}
