import Foundation
import Postgres
import RelayCore
import Testing

@testable import Relay

@Suite("A notification")
struct NotificationTests {
    @Test("is stored once, whatever its repeats and receivers")
    func once() async throws {
        try await withStores(2) { database, stores in
            let notices = Notices(store: stores[0], database: database)
            #expect(try await notices.come("DID_RENEW", said: 0, uuid: "a") == .stored)
            #expect(try await notices.come("DID_RENEW", said: 60, uuid: "a", to: stores[1]) == .repeated)
            let outcomes = try await withThrowingTaskGroup(of: ReceiveOutcome.self) { group in
                for number in 0..<8 {
                    group.addTask { try await notices.come("DID_RENEW", said: 1, uuid: "b", to: stores[number % 2]) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(outcomes.count { $0 == .stored } == 1)
            #expect(try await database.count("notifications") == 2)
            #expect(try await database.count("notification_relays") == 2)
            #expect(try await database.count("subscription_events", where: "event = 'did_renew'") == 2)
        }
    }

    @Test("of an unowned subscription is stored, and applies to the later purchase")
    func unclaimed() async throws {
        try await withStore { database, store in
            let notices = Notices(store: store, database: database)
            try await notices.come("SUBSCRIBED", said: -5)
            try await notices.come("REFUND", said: 0, began: -5, revoked: .refunded)
            let before = try #require(try await notices.subscription())
            #expect(before.email == nil)
            #expect(before.status == .revoked && before.reason == "refunded")
            let id = try await store.takeAndGrant(
                .sample().saying("1", ends: notices.at(86_400), statedAt: notices.at(-5)))
            try await notices.keep()
            let after = try #require(try await notices.subscription())
            #expect(after.email == "ana@example.test" && after.validation == id)
            #expect(after.timeline.map(\.event).sorted() == ["purchase", "refund", "subscribed"])
            #expect(try await store.status(of: id) == .revoked)
        }
    }

    @Test("of the sandbox changes nothing in production")
    func environments() async throws {
        try await withStore { database, store in
            let notices = Notices(store: store, database: database)
            let id = try await store.takeAndGrant(.sample())
            try await notices.come("REFUND", said: 0, revoked: .refunded, environment: "Sandbox")
            #expect(try await store.status(of: id) == .granted)
            let page = try await store.ops.subscriptions(
                matching: SubscriptionFilter(originalTransactionID: TransactionID(notices.key)))
            #expect(page.items.map(\.name.environment) == ["Production", "Sandbox"])
        }
    }

    @Test("belongs to the publisher of its app, or else to the first")
    func publisher() async throws {
        try await withStore { database, store in
            let notices = Notices(store: store, database: database)
            var generator = SystemRandomNumberGenerator()
            _ = try await store.keys.create(
                role: .app, name: "tv", publisher: "second", app: "com.example.tv", using: &generator)
            try await notices.come("SUBSCRIBED", said: 0)
            #expect(try await database.value("SELECT publisher FROM notifications", as: String.self) == "second")
            #expect(try await database.value("SELECT publisher FROM ledgers", as: String.self) == "second")
        }
    }

    @Test("for several publishers belongs to the one whose app posted the purchase")
    func purchaser() async throws {
        try await withStore { database, store in
            let notices = Notices(store: store, database: database)
            var generator = SystemRandomNumberGenerator()
            _ = try await store.keys.create(role: .app, name: "any", publisher: "second", app: "", using: &generator)
            let acceptance = try await Acceptance.sample(publisher: "second").saying(
                "1", ends: notices.at(86_400), statedAt: notices.at(0))
            let id = try await store.takeAndGrant(acceptance)
            try await notices.come("REFUND", said: 1, began: 0, revoked: .refunded)
            #expect(try await store.status(of: id) == .revoked)
            #expect(try await database.value("SELECT publisher FROM notifications", as: String.self) == "second")
        }
    }

    /// Anybody may post a foreign purchase, and its store then denies it.
    @Test("is not of a publisher whose purchase the store denied, and is of the owner before the keys'")
    func denied() async throws {
        try await withStore { database, store in
            var generator = SystemRandomNumberGenerator()
            for publisher in ["main", "second"] {
                _ = try await store.keys.create(
                    role: .app, name: "tv", publisher: PublisherID(publisher), app: "com.example.app",
                    using: &generator)
            }
            var refund = StoreNotification(
                version: .one, identity: "1", type: "VOIDED_PURCHASE", environment: .unknown,
                bundleID: "com.example.app", originalTransactionID: "google:token-1", saidAt: nil)
            refund.store = .google
            func sample(
                _ publisher: String, _ verification: Verification, key: String = "google:token-1"
            ) throws -> Acceptance {
                var one = try Acceptance.sample(subscription: key, publisher: publisher)
                (one.environment, one.verification) = (.unknown, verification)
                return one
            }
            // The newest key's, since nothing is known.
            #expect(try await store.notifications.publisher(of: refund) == "second")
            // A purchase that is not paid yet is no denied one.
            try await store.take(
                sample(
                    "main", .notGenuine(code: "not_a_purchase", detail: "no\(Verification.unpaid)"),
                    key: "google:token-2"))
            var paid = refund
            paid.originalTransactionID = "google:token-2"
            #expect(try await store.notifications.publisher(of: paid) == "main")
            try await store.take(sample("main", .genuine))
            try await store.take(sample("second", .notGenuine(code: "not_a_purchase", detail: "no")))
            #expect(try await store.notifications.publisher(of: refund) == "main")
            // What the store could not be asked about counts less than what it confirmed.
            var later = try sample("second", .notChecked)
            later.purchaseKey = thirtyTwoBytes("later")
            try await store.take(later)
            #expect(try await store.notifications.publisher(of: refund) == "main")
        }
    }

    @Test("about a new id belongs to the publisher of the former one, or of the app's granted purchases")
    func successor() async throws {
        try await withStore { database, store in
            for publisher in ["main", "second"] { _ = try await store.publishers.add(PublisherID(publisher)) }
            func notification(_ store: StorePlatform, _ key: TransactionID) -> StoreNotification {
                var one = StoreNotification(
                    version: .two, identity: key.text, type: "MODIFIED", environment: .unknown,
                    bundleID: "com.example.app",
                    saidAt: nil)
                (one.store, one.originalTransactionID) = (store, key)
                return one
            }
            var acceptance = try Acceptance.sample(subscription: "amazon:receipt-1", publisher: "second")
            acceptance.environment = .unknown
            try await store.takeAndGrant(acceptance)
            var changed = notification(.amazon, "amazon:receipt-2")
            #expect(try await store.notifications.publisher(of: changed) == "main")
            changed.related = ["amazon:receipt-1"]
            #expect(try await store.notifications.publisher(of: changed) == "second")
            try await database.run(
                "INSERT INTO store_sweeps (publisher, store, app, due_at) VALUES ('second', 'google', 'com.example.app', now())"
            )
            #expect(try await store.notifications.publisher(of: notification(.google, "google:token-2")) == "second")
            #expect(try await store.notifications.publisher(of: notification(.roku, "roku:r-2")) == "main")
        }
    }

    @Test("that is replayed while it is being sent is sent once more")
    func replayedOnItsWay() async throws {
        try await withStore { database, store in
            let notices = Notices(store: store, database: database)
            try await notices.come("SUBSCRIBED", said: 0)
            let claimed = try #require(try await store.notifications.claim(limit: 5, lease: .seconds(60)).first)
            let (archived, _) = try #require(try await store.ops.notification(claimed.id))
            let again = StoreNotification(
                version: .two, identity: "x", type: "SUBSCRIBED", environment: "Production", bundleID: nil, saidAt: nil)
            try await store.ops.replay(archived, again, isRelayed: true, by: "ops")
            #expect(try await store.notifications.claim(limit: 5, lease: .seconds(60)).isEmpty)
            try await store.notifications.record(.delivered, of: claimed)
            let next = try #require(try await store.notifications.claim(limit: 5, lease: .seconds(60)).first)
            #expect(next.id == claimed.id)
            try await store.notifications.record(.delivered, of: next)
            #expect(try await database.count("notification_relays") == 0)
            #expect(try await store.ops.notification(claimed.id)?.0.relay == .delivered)
        }
    }

    @Test("waits for an earlier one; one that Cleeng refuses does not block it")
    func lanes() async throws {
        try await withStores(2) { database, stores in
            let notices = Notices(store: stores[0], database: database)
            try await notices.come("DID_RENEW", said: 10, period: "2")
            try await notices.come("SUBSCRIBED", said: 0)
            let first = try await stores[0].notifications.claim(limit: 5, lease: .seconds(60))
            #expect(first.count == 1)
            #expect(try await stores[1].notifications.claim(limit: 5, lease: .seconds(60)).isEmpty)
            let (sent, _) = try #require(try await stores[0].ops.notification(first[0].id))
            #expect(sent.type == "SUBSCRIBED")
            try await stores[0].notifications.record(.failed("refused", next: .zero, standsAside: true), of: first[0])
            // Both may be sent now. After a failure of another kind, the second one still does not wait for the refused
            // one.
            let both = try await stores[1].notifications.claim(limit: 5, lease: .seconds(60))
            #expect(both.count == 2)
            for one in both {
                try await stores[1].notifications.record(.failed("503", next: .zero, standsAside: false), of: one)
            }
            #expect(try await database.count("notification_relays", where: "stands_aside") == 1)
            #expect(try await stores[0].notifications.claim(limit: 5, lease: .seconds(60)).count == 2)
        }
    }

    @Test("that cannot be written completely leaves no rows")
    func whole() async throws {
        try await withStore { database, store in
            let notices = Notices(store: store, database: database)
            try await notices.come("SUBSCRIBED", said: 0)
            try await database.run("UPDATE ledgers SET state = 'nonsense'")
            await #expect(throws: StoreError.self) { try await notices.come("DID_RENEW", said: 1, uuid: "x") }
            #expect(try await database.count("notifications") == 1)
            #expect(try await database.count("notification_names") == 1)
            try await database.run("UPDATE ledgers SET state = NULL")
            #expect(try await notices.come("DID_RENEW", said: 1, uuid: "x") == .stored)
        }
    }
}
