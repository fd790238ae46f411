import RelayCore
import Testing

@testable import Relay

@Suite("A question to a store")
struct QuestionTests {
    private static let key = TransactionID("google:token-1")

    private func run(_ body: (TestDatabase, RelayStore) async throws -> Void) async throws {
        try await TestDatabase.run { database in
            let store = await database.store("one")
            try await store.schema.migrate()
            try await body(database, store)
        }
    }

    @discardableResult
    private func signal(
        _ store: RelayStore, _ database: TestDatabase, _ id: String, key: TransactionID = key,
        type: String = "SUBSCRIPTION_REVOKED", isUnproven: Bool = false
    ) async throws -> ReceiveOutcome {
        var notification = StoreNotification.google(key, id, type: type)
        notification.isUnproven = isUnproven
        return try await store.notifications.receive(
            ReceivedNotification(notification, body: [], isRelayed: PerPublisher(true)),
            now: try await database.now())
    }

    private func claim(_ store: RelayStore) async throws -> [ClaimedQuestion] {
        try await store.questions.claim([.google: 10, .amazon: 10], lease: .seconds(60))
    }

    @Test("is one for many notifications of a purchase, each stored once and not forwarded")
    func coalesced() async throws {
        try await run { database, store in
            for id in ["a", "b", "c", "a", "b"] {
                _ = try await signal(store, database, id)
            }
            #expect(try await signal(store, database, "c") == .repeated)
            try await signal(store, database, "d", key: "google:token-2")
            #expect(try await database.count("notifications") == 4)
            #expect(try await database.count("notification_relays") == 0)
            #expect(Set(try await claim(store).map(\.name.originalTransactionID)) == [Self.key, "google:token-2"])
            #expect(try await claim(store).isEmpty)
        }
    }

    @Test("is asked again after a new notification, and ends otherwise")
    func meanwhile() async throws {
        try await run { database, store in
            try await signal(store, database, "a")
            let first = try #require(try await claim(store).first)
            try await signal(store, database, "b")
            // The question has an owner, so no other copy asks.
            #expect(try await claim(store).isEmpty)
            try await store.questions.end(first)
            let second = try #require(try await claim(store).first)
            #expect(second.row.fence > first.row.fence)
            // A copy that lost its claim does not end the question.
            try await store.questions.end(first)
            #expect(try await database.count("store_questions") == 1)
            try await store.questions.end(second)
            #expect(try await database.count("store_questions") == 0)
        }
    }

    @Test("that the account cannot answer goes to the app's other publishers, once, with what it carries")
    func passed() async throws {
        try await run { database, store in
            var generator = SystemRandomNumberGenerator()
            for publisher in ["main", "second", "third"] {
                _ = try await store.keys.create(
                    role: .app, name: "tv", publisher: PublisherID(publisher),
                    app: publisher == "third" ? "com.example.other" : "com.example.app", using: &generator)
            }
            var notification = StoreNotification.google(Self.key, "a", type: "VOIDED_PURCHASE")
            let refund = LedgerRefund(order: "GPA.1", at: Timestamp(seconds: 1_700_000_000), reason: .customer)
            (notification.bundleID, notification.refund) = ("com.example.app", refund)
            _ = try await store.notifications.receive(
                ReceivedNotification(notification, body: [], isRelayed: PerPublisher(true)), of: "main",
                now: try await database.now())
            let first = try #require(try await claim(store).first)
            #expect(first.refunds == [refund] && !first.isPassed)
            let others = try await store.questions.others(for: first)
            #expect(others == ["second"])
            try await store.questions.pass(first, to: others)
            try await store.questions.end(first)
            let second = try #require(try await claim(store).first)
            #expect(second.name.publisher == "second" && second.name.originalTransactionID == Self.key)
            #expect(second.isPassed && second.refunds == [refund] && second.expects == .isOver)
            #expect(second.event == "voided_purchase" && second.bundleID == "com.example.app")
            // A question that is open already there is asked again.
            try await store.questions.pass(second, to: ["second"])
            try await store.questions.end(second)
            #expect(try await claim(store).count == 1)
        }
    }

    @Test("is also asked again after an unsigned notification, which shortens no pause")
    func unsigned() async throws {
        try await run { database, store in
            let name = SubscriptionName(publisher: .first, environment: .production, originalTransactionID: Self.key)
            try await database.run(
                """
                INSERT INTO ledgers (bucket, publisher, environment, subscription_key, bundle_id, heard_at)
                VALUES (\(name.bucket.number), '\(name.publisher)', 'Production', '\(Self.key)', 'com.example.app', now())
                """)
            try await signal(store, database, "a", isUnproven: true)
            let first = try #require(try await claim(store).first)
            try await signal(store, database, "b", isUnproven: true)
            #expect(try await claim(store).isEmpty)
            try await store.questions.end(first)
            let second = try #require(try await claim(store).first)
            try await signal(store, database, "c", isUnproven: true)
            try await store.questions.postpone(second, trouble: "away", by: .seconds(900))
            #expect(try await claim(store).isEmpty)
            try await signal(store, database, "d", isUnproven: true)
            #expect(try await claim(store).isEmpty)
            try await signal(store, database, "e")
            let third = try #require(try await claim(store).first)
            try await store.questions.end(third)
            #expect(try await database.count("store_questions") == 0)
        }
    }

    @Test("waits for a notification or its time if the store cannot be asked")
    func postponed() async throws {
        try await run { database, store in
            try await signal(store, database, "a")
            let claimed = try #require(try await claim(store).first)
            try await store.questions.postpone(claimed, trouble: "away", by: .seconds(900))
            #expect(try await claim(store).isEmpty)
            let listed = try await store.ops.notifications(matching: NotificationFilter(relay: .pending), in: .all)
                .items
            #expect(listed.map(\.lastError) == ["away"] && listed.map(\.store) == ["google"])
            let state = try await store.questions.health(in: .all)
            #expect(state.map(\.store) == ["google"] && state[0].waiting == 1)
            try await signal(store, database, "b")
            #expect(try await claim(store).map(\.attempts) == [1])
        }
    }

    @Test("that was asked often delays no other")
    func tired() async throws {
        try await run { database, store in
            for number in 0..<6 {
                try await signal(store, database, "\(number)", key: TransactionID("google:\(number)"))
            }
            try await database.run("UPDATE store_questions SET attempts = 9 WHERE subscription_key < 'google:4'")
            let claimed = try await store.questions.claim([.google: 2], lease: .seconds(60))
            let names = claimed.map(\.name.originalTransactionID)
            #expect(claimed.count == 3 && Set(names).isSuperset(of: ["google:4", "google:5"]))
        }
    }

    @Test("with a doubted answer is asked four times more, and at once after a new notification")
    func doubted() async throws {
        try await run { database, store in
            try await signal(store, database, "a")
            var pauses: [Duration] = []
            while let claimed = try await claim(store).first {
                #expect(claimed.expects == .isOver)
                guard let pause = claimed.doubtPause else { break }
                pauses.append(pause)
                try await store.questions.postpone(
                    claimed, trouble: "it runs", by: pause, doubts: claimed.doubts - 1)
                #expect(try await claim(store).isEmpty)
                try await database.run("UPDATE store_questions SET due_at = now()")
            }
            #expect(pauses == ClaimedQuestion.doubtPauses)
            try await database.run("UPDATE store_questions SET due_at = now(), owner = NULL")
            let last = try #require(try await claim(store).first)
            try await signal(store, database, "b")
            try await store.questions.postpone(last, trouble: "away", by: .seconds(900))
            #expect(try await claim(store).map(\.doubts) == [4])
        }
    }

    @Test("keeps its number of doubts if a notification shortens its pause")
    func burst() async throws {
        try await run { database, store in
            try await signal(store, database, "a")
            for number in 0..<6 {
                let claimed = try #require(try await claim(store).first)
                #expect(claimed.doubts == 4)
                let pause = try #require(claimed.doubtPause)
                try await store.questions.postpone(claimed, trouble: "it runs", by: pause, doubts: claimed.doubts - 1)
                try await signal(store, database, "b\(number)", type: "SUBSCRIPTION_CANCELED")
            }
            let state = try await store.questions.health(in: .all)
            #expect(state[0].waiting == 1 && state[0].oldestWaiting != nil)
        }
    }

    @Test("with a doubted answer has no age")
    func doubtedIsAsked() async throws {
        try await run { database, store in
            try await signal(store, database, "a")
            let claimed = try #require(try await claim(store).first)
            for doubts in [3, 0] {
                try await store.questions.postpone(claimed, trouble: "it runs", by: .seconds(3_600), doubts: doubts)
                let state = try await store.questions.health(in: .all)
                #expect(state[0].waiting == 1 && state[0].oldestWaiting == nil)
                try await database.run(
                    "UPDATE store_questions SET owner = 'one', fence = \(claimed.row.fence), due_at = now()")
            }
        }
    }

    /// For a revoked purchase, Roku and Amazon state only that it has ended.
    @Test("is asked if Cleeng grants a purchase that its store reported as ended", arguments: [nil, false, true])
    func contradicted(isOver: Bool?) async throws {
        try await run { database, store in
            let key = "roku:purchase-1"
            let claimed = try await store.takeAndClaim(.sample(subscription: key))
            if let isOver {
                let end = LedgerEnd(isOver: isOver, statedAt: try await database.now())
                _ = try await store.subscriptions.record(
                    [LedgerMessage(claimed.name, LedgerStatement(end: end))])
            }
            #expect(try await store.outcome(of: claimed.granted()) == .written)
            let asked: [String] = try await database.column("SELECT subscription_key FROM store_questions")
            #expect(asked == (isOver == true ? [key] : []))
        }
    }

    @Test("keeps the grant's data about the purchase, whatever a notification contains")
    func forged() async throws {
        try await run { database, store in
            let bought = SubscriptionName(
                publisher: .first, environment: .production, originalTransactionID: Self.key)
            let granted = QuestionStore.ask(afterGrantOn: bought, bundleID: "com.example.tv", productID: "gold")
            _ = try await store.database.query(granted)
            try await signal(store, database, "a")
            let claimed = try #require(try await claim(store).first)
            #expect(claimed.bundleID == "com.example.tv" && claimed.productID == "gold")
        }
    }

    @Test("about an app starts its sweep, in one copy at a time")
    func sweeps() async throws {
        try await run { database, store in
            let bought = SubscriptionName(publisher: .first, environment: .production, originalTransactionID: Self.key)
            for added in QuestionStore.sweep([(name: bought, app: "com.example.app")]) {
                _ = try await store.database.query(added)
            }
            let other = await database.store("two")
            let turn = try #require(try await store.questions.takeSweep())
            #expect(turn.app == "com.example.app" && turn.completeUntil == nil)
            #expect(try await other.questions.takeSweep() == nil)
            try await database.run("UPDATE store_sweeps SET due_at = now() - interval '1 second'")
            let stolen = try #require(try await other.questions.takeSweep())
            await #expect(throws: QuestionStore.TurnLost.self) { _ = try await store.questions.keep(turn) }
            let until = try await database.now()
            try await store.questions.end(turn, completeUntil: until, trouble: nil, pause: .seconds(60))
            let kept = try await other.questions.keep(stolen)
            try await other.questions.end(kept, completeUntil: until, trouble: nil, pause: .zero)
            #expect(try await store.questions.takeSweep()?.completeUntil == until)
            let running = try await store.questions.running([Self.key, "google:token-2"], of: .first)
            #expect(running.isEmpty)
        }
    }
}
