import Postgres
import RelayCore
import Testing

@testable import Relay

/// The customers whom an erasure affects.
@Suite struct ErasureScopeTests {
    /// Two publishers may have a customer of the same name, and both in the same bucket.
    @Test func anotherPublishersCustomerOfTheSameNameKeepsItsMessages() async throws {
        try await withStore { database, store in
            for publisher in ["main", "other"] { _ = try await store.publishers.add(PublisherID(publisher)) }
            let name = try #require(
                (0..<100_000).lazy.map { "u-\($0)" }.first { Bucket(of: "main", $0) == Bucket(of: "other", $0) })
            let bucket = Int16(Bucket(of: "main", name).number)
            for (id, publisher) in [("0123456789abcdef01234567", "main"), ("89abcdef0123456789abcdef", "other")] {
                _ = try await database.hand.query(
                    SQL(
                        "INSERT INTO webhook_endpoints (id, publisher, kind, url) VALUES ($1, $2, 1, 'https://a.example')",
                        [.text(id), .text(publisher)]))
                _ = try await database.hand.query(
                    SQL(
                        """
                        INSERT INTO webhook_queue (bucket, id, accepted_on, due_at, created_at, sequence, endpoint, lane)
                        VALUES ($1, gen_random_uuid(), current_date, now(), now(), 1, $2, $3)
                        """, [.int2(bucket), .text(id), .text(name)]))
            }
            _ = try await database.hand.query(
                SQL(
                    "INSERT INTO customers (bucket, publisher, username, changed_at, reason) VALUES ($1, 'main', $2, now(), 'OTHER')",
                    [.int2(bucket), .text(name)]))
            let identity = try await store.customers.identity(of: name)
            #expect(identity.names.map(\.publisher) == ["main"])
            _ = try await Erasure(store: store).run(
                identity, AuditEntry(actor: "test", .customerErased, "a customer", of: nil))
            let left = try await database.hand.query(SQL("SELECT endpoint FROM webhook_queue"))
            #expect(try left.map { try $0.get(0, as: String.self) } == ["89abcdef0123456789abcdef"])
        }
    }

    private let entry = AuditEntry(actor: "test", .customerErased, "a customer", of: nil)

    @Test func anEmailIsFoundByItselfAndNotWithinAnother() {
        let email = Array("ana@example.test".utf8)
        for text in [
            #"{"customerEmail":"ana@example.test"}"#, #"{"a":"by ana@example.test."}"#,
            #"{"a":"x\nana@example.test\n"}"#,
            #"{"a":"\u003cana@example.test\u003e"}"#, "ana@example.test",
            #"["mariana@example.test","ana@example.test"]"#,
        ] { #expect(Array(text.utf8).mentions(email), "\(text)") }
        for text in [
            "mariana@example.test", "mari.ana@example.test", "ana@example.test.de", "ana@example.tests",
            "anna@example.test", "",
        ] { #expect(!Array(#"{"a":"\#(text)"}"#.utf8).mentions(email), "\(text)") }
    }

    /// A short name may be part of any text.
    @Test func aNameThatIsNoEmailErasesNoTextThatContainsIt() async throws {
        try await withStore { database, store in
            for publisher in ["main", "other"] { _ = try await store.publishers.add(PublisherID(publisher)) }
            for publisher in ["main", "other"] {
                try await database.run(
                    """
                    INSERT INTO customers (bucket, publisher, username, changed_at, reason)
                    VALUES (\(Bucket(of: publisher, "42").number), '\(publisher)', '42', now(), 'OTHER')
                    """)
            }
            _ = try await store.events.receive(
                topic: "t", body: Array(#"{"phone":"0421"}"#.utf8), now: try await database.now())
            await #expect(throws: Erasure.Refusal.severalPublishers) { try await store.customers.identity(of: "42") }
            let one = try await store.customers.identity(of: "42", publisher: "main")
            let erased = try await Erasure(store: store).run(one, entry)
            #expect(erased.mentions.isEmpty, "a name that is no email is searched for nowhere")
            #expect(try await database.column("SELECT publisher FROM customers", as: String.self) == ["other"])
        }
    }

    @Test func aReceiptThatWasNotSentYetIsKept() async throws {
        try await withStore { database, store in
            let id = try await store.take(.sample())
            try await database.run("UPDATE validations SET status = 3, settled_at = now()")
            try await database.run("UPDATE pursuits SET status = 3")
            let identity = try await store.customers.identity(of: "ana@example.test")
            await #expect(throws: Erasure.Refusal.pending(1)) { try await Erasure(store: store).run(identity, entry) }
            #expect(try await database.count("receipts") == 1)
            try await database.run("UPDATE pursuits SET phase = 1, forwards = 1")
            _ = try await Erasure(store: store).run(identity, entry)
            #expect(try await store.purchases.validation(id) == nil)
        }
    }

    /// Every reader calls it timed out, though no worker has written that yet.
    @Test func whatHasPassedItsDeadlineIsNoHindrance() async throws {
        try await withStore { database, store in
            let claimed = try await store.takeAndClaim(.sample())
            try await store.write(claimed.watching(until: claimed.pursuit.deadline))
            let identity = try await store.customers.identity(of: "ana@example.test")
            await #expect(throws: Erasure.Refusal.pending(1)) { try await Erasure(store: store).run(identity, entry) }
            try await database.letPass(seconds: 61)
            #expect(try await Erasure(store: store).run(identity, entry).validations == 1)
        }
    }

    /// Instant Signup's notification names the customer, twice encoded.
    @Test func whatRokuSaysOfTheCustomerGoes() async throws {
        try await withStore { database, store in
            for (id, text) in [("1", "ana@example.test"), ("2", "banana@example.test")] {
                var notification = StoreNotification(
                    version: .one, identity: id, type: "Sale", environment: .unknown, bundleID: nil, saidAt: nil)
                notification.store = .roku
                _ = try await store.notifications.receive(
                    ReceivedNotification(
                        notification, body: Array(text.utf8.reversed()), isRelayed: PerPublisher(false)),
                    now: try await database.now())
            }
            let rows = try #require(store.customers.mentioning.first { $0.member == "notifications" })
            #expect(try await store.customers.mentions(of: "ana@example.test", in: rows).map(\.name) == ["Sale"])
            let identity = try await store.customers.identity(of: "ana@example.test")
            #expect(try await Erasure(store: store).run(identity, entry).mentions["notifications"] == 1)
            #expect(try await database.count("notifications") == 1)
        }
    }

    /// A customer who changed the email, and kept the publisher's name.
    @Test func whatWaitsForAnotherEmailOfTheSameNameStays() async throws {
        try await withStore { database, store in
            try await store.takeAndGrant(.sample(customer: "old@example.test", subscription: "1"))
            try await store.takeAndGrant(.sample(customer: "new@example.test", subscription: "2"))
            try await database.run("UPDATE subscriptions SET application_username = 'U42'")
            try await database.run("UPDATE validations SET application_username = 'U42'")
            try await database.run(
                """
                INSERT INTO customers (bucket, publisher, username, changed_at, reason, untold_since)
                VALUES (\(Bucket(of: "main", "U42").number), 'main', 'U42', now(), 'PURCHASED', now())
                """)
            let identity = try await store.customers.identity(of: "old@example.test")
            _ = try await Erasure(store: store).run(identity, entry)
            #expect(
                try await database.column("SELECT username FROM customers WHERE username = 'U42'", as: String.self)
                    == ["U42"])
            #expect(
                try await database.column("SELECT customer FROM subscriptions", as: String.self) == ["new@example.test"]
            )
        }
    }

    /// A worker settles a purchase after the operator's list was read, and before the erasure.
    @Test func aGrantThatCameMeanwhileIsErasedToo() async throws {
        try await withStore { database, store in
            let claimed = try await store.takeAndClaim(.sample())
            try await database.run("UPDATE pursuits SET status = 3, phase = 1, forwards = 1, sending = false")
            let identity = try await store.customers.identity(of: "ana@example.test")
            #expect(identity.subscriptions.isEmpty)
            try await store.write(claimed.granted())
            #expect(try await database.count("subscriptions") == 1)
            let erased = try await Erasure(store: store).run(identity, entry)
            #expect(erased.subscriptions == 1 && erased.validations == 1)
            #expect(try await database.count("subscriptions") == 0)
        }
    }

    @Test func aPurchaseThatCameMeanwhileIsKept() async throws {
        try await withStore { database, store in
            try await store.takeAndGrant(.sample(subscription: "1"))
            let identity = try await store.customers.identity(of: "ana@example.test")
            let id = try await store.take(.sample(subscription: "2"))
            await #expect(throws: Erasure.Refusal.pending(1)) { try await Erasure(store: store).run(identity, entry) }
            #expect(try await store.purchases.validation(id) != nil)
            #expect(try await database.count("receipts") == 2)
        }
    }

    @Test func aRowThatCannotBeOpenedKeepsNobodyFromBeingErased() async throws {
        try await QueuedItems.run(.events) { items in
            try await items.poison(try #require(try await items.claim().first))
            _ = try await items.store.events.receive(
                topic: "test", body: Array(#"{"customerEmail":"ana@example.test"}"#.utf8),
                now: try await items.database.now())
            let identity = try await items.store.customers.identity(of: "ana@example.test")
            let rows = try #require(items.store.customers.mentioning.first { $0.member == "events" })
            let events = try await items.store.customers.mentions(of: identity.customer, in: rows)
            #expect(events.map(\.name) == ["test"])
            let erased = try await Erasure(store: items.store).run(identity, entry)
            #expect(erased.mentions["events"] == 1 && erased.unreadable == 1)
            #expect(try await items.database.count("cleeng_events") == QueuedItems.count)
        }
    }

    /// A validator claimed it by the name alone, and another email has the name too.
    @Test func whatASharedNameHasWithoutAnEmailStays() async throws {
        try await withStore { database, store in
            try await store.takeAndGrant(.sample(customer: "old@example.test", subscription: "1"))
            try await store.takeAndGrant(.sample(customer: "new@example.test", subscription: "2"))
            try await database.run("UPDATE subscriptions SET application_username = 'U42'")
            try await database.run("UPDATE validations SET application_username = 'U42'")
            let name = SubscriptionName(
                publisher: "main", environment: .production, originalTransactionID: "google:token-3")
            _ = try await store.customers.enter(
                [LedgerMessage(name, bundleID: "com.example.tv")],
                for: CustomerName(publisher: "main", username: "U42"), app: "com.example.tv")
            #expect(try await database.count("subscriptions") == 3)
            let identity = try await store.customers.identity(of: "old@example.test")
            _ = try await Erasure(store: store).run(identity, entry)
            #expect(
                try await database.column(
                    "SELECT subscription_key FROM subscriptions ORDER BY 1", as: String.self) == [
                        "2", "google:token-3",
                    ])
        }
    }
}
