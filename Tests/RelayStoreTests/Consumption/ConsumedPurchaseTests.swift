import Postgres
import RelayCore
import Testing

@testable import Relay

@Suite("Apple's question about a purchase finds its customer, and whether the purchase was delivered")
struct ConsumedPurchaseTests {
    private static let ana = CustomerName(publisher: "main", username: "ana@example.test")
    private static let name = SubscriptionName(
        publisher: "main", environment: .production, originalTransactionID: "1000000001")

    private static func sample(
        _ customer: String = "ana@example.test", _ verification: Verification = .genuine
    ) throws -> Acceptance {
        var acceptance = try Acceptance.sample(customer: customer)
        acceptance.verification = verification
        return acceptance
    }

    /// Stores Apple's request and claims it.
    private static func asked(_ store: RelayStore, _ database: TestDatabase) async throws -> ClaimedConsumption {
        var notification = StoreNotification(
            version: .two, identity: "2:asked", uuid: nil, type: "CONSUMPTION_REQUEST", environment: .production,
            bundleID: "com.example.tv", originalTransactionID: name.originalTransactionID,
            saidAt: try await database.now())
        notification.consumption = ConsumptionDemand(
            transactionID: name.originalTransactionID, reason: nil, renews: true)
        _ = try await store.notifications.receive(
            ReceivedNotification(notification, body: [], isRelayed: PerPublisher(false)),
            now: try await database.now())
        return try #require(
            try await store.consumption.claim([.production: 1], lease: .seconds(600)).first)
    }

    /// Enters the purchase as `/v1/validate` does.
    private static func validate(_ store: RelayStore) async throws {
        _ = try await store.publishers.add("main")
        _ = try await store.customers.enter(
            [LedgerMessage(name, bundleID: "com.example.tv")], for: ana, app: "com.example.tv")
    }

    @Test("a genuine purchase that Cleeng rejected is its customer's, and not delivered")
    func rejected() async throws {
        try await withStore { database, store in
            try await store.write(try await store.takeAndClaim(try Self.sample()).rejected())
            let asked = try await Self.asked(store, database)
            #expect(
                try await store.consumption.purchase(of: asked)
                    == ConsumedPurchase(customer: Self.ana, delivery: .other))
            // The consent finds the request by the customer's name.
            #expect(
                try await database.value("SELECT username FROM consumption_requests", as: String.self)
                    == "ana@example.test")
            // A purchase that is not rejected has precedence, even if it is older or unchecked.
            let other = try await store.takeAndClaim(try Self.sample("ben@example.test", .notChecked))
            #expect(
                try await store.consumption.purchase(of: asked)
                    == ConsumedPurchase(
                        customer: CustomerName(publisher: "main", username: "ben@example.test"),
                        delivery: .serverOutage))
            try await store.write(other.granted())
            #expect(try await store.consumption.purchase(of: asked)?.delivery == .delivered)
        }
    }

    @Test(
        "a rejected purchase that is not known to be genuine has no customer",
        arguments: [Verification.notChecked, .notGenuine(code: "bad_signature", detail: "d")])
    func forged(verification: Verification) async throws {
        try await withStore { database, store in
            let purchase = try Self.sample("ana@example.test", verification)
            try await store.write(try await store.takeAndClaim(purchase).rejected())
            let asked = try await Self.asked(store, database)
            #expect(try await store.consumption.purchase(of: asked) == nil)
        }
    }

    @Test("a purchase that timed out is waited for only while it is pursued")
    func timedOut() async throws {
        try await withStore { database, store in
            let claimed = try await store.takeAndClaim(try Self.sample())
            try await store.write(claimed.timedOut(restingUntil: claimed.pursuit.deadline + .seconds(9_000)))
            let asked = try await Self.asked(store, database)
            #expect(try await store.consumption.purchase(of: asked)?.delivery == .serverOutage)
            try await database.run("DELETE FROM pursuits")
            #expect(
                try await store.consumption.purchase(of: asked)
                    == ConsumedPurchase(customer: Self.ana, delivery: .other))
        }
    }

    @Test("a claim by a validator is delivered by itself, but not while Cleeng has not granted what was forwarded")
    func validated() async throws {
        try await withStore { database, store in
            try await Self.validate(store)
            let asked = try await Self.asked(store, database)
            #expect(
                try await store.consumption.purchase(of: asked)
                    == ConsumedPurchase(customer: Self.ana, delivery: .delivered))
            let claimed = try await store.takeAndClaim(try Self.sample())
            #expect(try await store.consumption.purchase(of: asked)?.delivery == .serverOutage)
            try await store.write(claimed.rejected())
            #expect(
                try await store.consumption.purchase(of: asked)
                    == ConsumedPurchase(customer: Self.ana, delivery: .other))
        }
    }

    @Test("an owner has received the purchase, also after its validation was deleted")
    func owner() async throws {
        try await withStore { database, store in
            try await store.takeAndGrant(try Self.sample())
            let asked = try await Self.asked(store, database)
            for _ in 0..<2 {
                #expect(
                    try await store.consumption.purchase(of: asked)
                        == ConsumedPurchase(customer: Self.ana, delivery: .delivered))
                try await database.run("DELETE FROM validations")
            }
        }
    }
}
