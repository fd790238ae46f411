import Postgres
import RelayCore
import Testing

@testable import Relay

/// Ana owns the subscription. Ben had the offer before, posted Ana's receipt, and is granted alone. Then Cleeng says that
/// it moved the subscription.
@Suite("A grant that stands alone, and a subscription that Cleeng moves to its customer")
struct JoiningTests {
    private let ana = "ana@example.test"
    private let ben = "ben@example.test"

    private struct Scene {
        var database: TestDatabase
        var store: RelayStore
        var ana: ValidationID
        var ben: ValidationID

        var subject: EventSubject {
            get throws {
                let sample = try Acceptance.sample(customer: "ben@example.test")
                return EventSubject(customer: sample.email.customer, offerID: sample.offerID)
            }
        }

        func join(from: String, saidAt: Timestamp? = nil) async throws -> Int {
            let saidAt = if let saidAt { saidAt } else { try await database.now() }
            let grants = try await store.subscriptions.aloneGrants(of: subject)
            let move = SubscriptionStore.ReportedMove(
                to: try subject, from: CustomerID(from), saidAt: saidAt, summary: "it moved")
            return try await store.subscriptions.join(grants, move)
        }
    }

    private func run(_ body: (Scene) async throws -> Void) async throws {
        try await withStore { database, store in
            let first = try await store.takeAndGrant(.sample(customer: ana, offer: "S2_US"))
            let second = try await alone(database, store, .sample(customer: ben))
            try await database.run("DELETE FROM customers")
            try await body(Scene(database: database, store: store, ana: first, ben: second))
        }
    }

    private func alone(
        _ database: TestDatabase, _ store: RelayStore, _ acceptance: Acceptance
    ) async throws -> ValidationID {
        let claimed = try await store.takeAndClaim(acceptance)
        var grant = claimed.granted()
        grant.pursuit.entitledBefore = true
        grant.ownerReading = .init(
            isEntitled: true, observedAt: try await database.now() + claimed.patience + .seconds(1))
        #expect(try await store.outcome(of: grant) == .written)
        return claimed.id
    }

    @Test("is joined to it, and ends with it")
    func joined() async throws {
        try await run { scene in
            let (database, store) = (scene.database, scene.store)
            #expect(try await scene.join(from: ana) == 1)
            #expect(try await store.status(of: scene.ana) == .transferred)
            #expect(try await store.status(of: scene.ben) == .granted)
            #expect(try await database.column("SELECT customer FROM subscriptions", as: String.self) == [ben])
            #expect(try await database.count("ledgers", where: "granted_offer = 'S123456789_US'") == 1)
            #expect(try await database.count("subscriptions", where: "owner_no = 2") == 1)
            let transfer = try #require(try await store.ops.detail(scene.ben)?.transfer)
            #expect(transfer.from.text == ana && transfer.to.text == ben)
            #expect(
                try await database.column("SELECT username || ' ' || reason FROM customers ORDER BY 1", as: String.self)
                    == ["\(ana) OTHER", "\(ben) PURCHASED"])
            // Cleeng repeats its events.
            #expect(try await scene.join(from: ana) == 0)
            #expect(try await database.count("transfers") == 1)

            let name = try #require(try await database.subscriptionNames().first)
            let over = LedgerMessage(name, .over(statedAt: try await database.now() + .seconds(1)))
            _ = try await store.subscriptions.record([over])
            #expect(try await store.status(of: scene.ben) == .revoked)
        }
    }

    @Test("stays alone if Cleeng named another customer, or said it before the owner's grant")
    func anothers() async throws {
        try await run { (scene: Scene) async throws in
            #expect(try await scene.join(from: "cid@example.test") == 0)
            #expect(try await scene.join(from: ana, saidAt: .earliest) == 0)
            #expect(try await scene.store.status(of: scene.ana) == .granted)
            #expect(try await scene.database.count("subscriptions") == 2)
        }
    }

    @Test("stays alone if Cleeng may mean one of two subscriptions")
    func ambiguous() async throws {
        try await run { scene in
            let other = try await scene.store.takeAndGrant(.sample(customer: ana, subscription: "2"))
            _ = try await alone(scene.database, scene.store, .sample(customer: ben, subscription: "2"))
            #expect(try await scene.join(from: ana) == 0)
            #expect(try await scene.store.status(of: scene.ana) == .granted)
            #expect(try await scene.store.status(of: other) == .granted)
        }
    }

    @Test("is joined to a subscription that its customer owns already")
    func ownedAlready() async throws {
        try await run { scene in
            let again = try await scene.store.takeAndGrant(.sample(customer: ben, offer: "S2_US"))
            #expect(try await scene.store.status(of: scene.ana) == .transferred)
            #expect(try await scene.join(from: ana) == 1)
            #expect(try await scene.database.count("subscriptions") == 1)
            #expect(try await scene.database.count("transfers") == 1)
            for id in [scene.ben, again] { #expect(try await scene.store.status(of: id) == .granted) }
        }
    }
}

extension TestDatabase {
    fileprivate func subscriptionNames() async throws -> [SubscriptionName] {
        try await hand.query("SELECT publisher, environment, subscription_key FROM subscriptions").map {
            try $0.subscriptionName()
        }
    }
}
