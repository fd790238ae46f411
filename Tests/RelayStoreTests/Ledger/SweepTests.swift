import Postgres
import RelayCore
import Testing

@testable import Relay

@Suite("A sweep of voided purchases")
struct SweepTests {
    private static let name = SubscriptionName(
        publisher: .first, environment: .production, originalTransactionID: "google:token-1")

    private func apps(_ database: TestDatabase) async throws -> [String] {
        try await database.column(
            "SELECT publisher || ' ' || store || ' ' || app FROM store_sweeps ORDER BY 1", as: String.self)
    }

    private func add(_ app: BundleID, _ store: RelayStore) async throws {
        for added in QuestionStore.sweep([(name: Self.name, app: app)]) { _ = try await store.database.query(added) }
    }

    @Test("is due for the app of a granted Google purchase, even without acknowledgement")
    func granted() async throws {
        try await withStore { database, store in
            #expect(store.memory.acknowledged.isEmpty)
            let keys = ["google:token-1", "google:token-2", "amazon:receipt-1", "1000000001"]
            for (number, key) in keys.enumerated() {
                let sample = try Acceptance.sample(customer: "\(number)@example.test", subscription: key)
                try await store.takeAndGrant(sample)
            }
            #expect(try await apps(database) == ["main google com.example.tv"])
            #expect(try await database.count("store_questions") == 0)
        }
    }

    @Test("is due for the app of a Google purchase from the validator, and for no other store's")
    func entered() async throws {
        try await withStore { database, store in
            let messages = ["google:token-1", "amazon:receipt-1", "1000000001"].map { key in
                LedgerMessage(
                    SubscriptionName(
                        publisher: "main", environment: .production, originalTransactionID: TransactionID(key)),
                    bundleID: "com.example.tv")
            }
            _ = try await store.customers.enter(messages, for: nil, app: "com.example.tv")
            #expect(try await apps(database) == ["main google com.example.tv"])
        }
    }

    @Test("that was never complete has the age of its first try; without access to Google it has none")
    func neverComplete() async throws {
        try await withStore { database, store in
            func fail(canAsk: Bool) async throws {
                let turn = try #require(try await store.questions.takeSweep())
                try await store.questions.end(
                    turn, completeUntil: nil, trouble: "no", pause: .zero, canAsk: canAsk)
            }
            try await add("com.example.one", store)
            #expect(try await store.questions.health(in: .all).isEmpty)
            try await fail(canAsk: false)
            let unasked = try #require(try await store.questions.health(in: .all).first)
            #expect(unasked.oldestSweep == nil && unasked.sweepTrouble == "no")

            try await fail(canAsk: true)
            let first = try #require(try await store.questions.health(in: .all).first)
            #expect(first.oldestSweep != nil && first.sweptAt == nil)
            try await fail(canAsk: true)
            let second = try #require(try await store.questions.health(in: .all).first)
            #expect(second.oldestSweep == first.oldestSweep)
        }
    }

    @Test("of several apps has the age of the one that was swept longest ago, until that is removed")
    func oldest() async throws {
        try await withStore { database, store in
            try await add("com.example.gone", store)
            let gone = try #require(try await store.questions.takeSweep())
            try await store.questions.end(gone, completeUntil: nil, trouble: "no", pause: .seconds(600))
            try await add("com.example.tv", store)
            let turn = try #require(try await store.questions.takeSweep())
            let until = try await database.now()
            try await store.questions.end(turn, completeUntil: until, trouble: nil, pause: .seconds(600))

            let both = try #require(try await store.questions.health(in: .all).first)
            let oldest = try #require(both.oldestSweep)
            #expect(oldest < until && both.sweptAt == nil && both.sweepTrouble == "no")
            try await database.run("DELETE FROM store_sweeps WHERE store = 'google' AND app = 'com.example.gone'")
            let rest = try #require(try await store.questions.health(in: .all).first)
            let swept = try #require(rest.oldestSweep)
            #expect(swept >= until && rest.sweptAt == swept && rest.sweepTrouble == nil)
        }
    }
}
