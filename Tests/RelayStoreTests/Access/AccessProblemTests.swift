import Postgres
import RelayCore
import Testing

@testable import Relay

@Suite("Ops sees granted access that may be wrong")
struct AccessProblemTests {
    private func names(_ store: RelayStore, _ problem: AccessProblem?) async throws -> [String] {
        try await store.ops.accessProblems(problem, limit: 50, cursor: nil, in: .all).items.map {
            "\($0.name.originalTransactionID) \($0.problem?.name ?? "none")"
        }.sorted()
    }

    private func grant(_ store: RelayStore, _ subscription: String) async throws {
        try await store.takeAndGrant(.sample(customer: "c\(subscription)@example.test", subscription: subscription))
    }

    @Test("finds each problem and nothing else")
    func eachProblem() async throws {
        try await withStore { database, store in
            for subscription in ["1", "2", "3", "4", "5", "6", "7"] { try await grant(store, subscription) }
            _ = try await store.subscriptions.record(
                try await store.subscriptions.claimDue(limit: 10, lease: .seconds(60)).map { LedgerMessage($0.name) })
            try await database.run(
                "UPDATE ledgers SET status = 1, expires_at = now() + interval '1 day', due_at = now() + interval '1 day', trouble = NULL"
            )
            #expect(try await names(store, nil) == [])
            func make(_ subscription: String, _ change: String) async throws {
                try await database.run("UPDATE ledgers SET \(change) WHERE subscription_key = '\(subscription)'")
            }
            try await make("1", "due_at = NULL")
            try await make("2", "parked_at = now(), due_at = NULL, trouble = 'a corrupt row'")
            try await make(
                "3",
                "expires_at = now() - interval '1 minute', due_at = now() + interval '1 minute', trouble = 'Cleeng is away'"
            )
            // No worker runs, so no evaluation has happened.
            try await make(
                "4",
                "status = NULL, expires_at = NULL, granted_until = now() - interval '1 hour', due_at = now() - interval '1 hour'"
            )
            // Its renewal is still awaited.
            try await make("5", "expires_at = now() - interval '1 minute', due_at = now() + interval '10 minutes'")
            try await make("6", "product_id = 'com.example.year'")
            // An ended subscription is no problem.
            try await make("7", "status = 4, due_at = NULL, expires_at = now() - interval '1 day'")
            #expect(try await names(store, .unwatched) == ["1 unwatched", "2 unwatched"])
            #expect(try await names(store, .overdue) == ["3 overdue", "4 overdue"])
            #expect(try await names(store, .mismatch) == [])
            try await store.offers.put(
                [Offer(id: "S987654321_US", name: "", products: ["apple:com.example.year"], coupons: [])], of: "main")
            #expect(try await names(store, .mismatch) == ["6 mismatch"])
            #expect(
                try await store.ops.count(AccessProblem.allCases, in: .all) == [
                    .unwatched: 2, .overdue: 2, .mismatch: 1,
                ])
            #expect(
                try await store.ops.count(AccessProblem.allCases, in: .publisher("other")) == [
                    .unwatched: 0, .overdue: 0, .mismatch: 0,
                ])
            #expect(try await store.ops.summary(in: .all).accessProblems == [.unwatched: 2, .overdue: 2])
            try await store.offers.put(
                [
                    Offer(id: "S123456789_US", name: "", products: ["apple:com.example.year"], coupons: [])
                ], of: "main")
            #expect(try await names(store, .mismatch) == [])
            // A base plan is the product too.
            try await store.offers.put(
                [Offer(id: "S123456789_US", name: "", products: ["apple:com.example.year:weekly"], coupons: [])],
                of: "main")
            #expect(try await names(store, .mismatch) == [])
            #expect(
                try await names(store, nil) == ["1 unwatched", "2 unwatched", "3 overdue", "4 overdue"])
        }
    }

    @Test("pages have each problem once, only for its publisher")
    func pages() async throws {
        try await withStore { database, store in
            for subscription in ["1", "2", "3"] { try await grant(store, subscription) }
            // A subscription with two problems at once.
            try await database.run(
                "UPDATE ledgers SET status = 1, parked_at = now(), expires_at = now() - interval '1 day', due_at = now() - interval '1 day'"
            )
            var (found, cursor): ([String], SubscriptionCursor?) = ([], nil)
            repeat {
                let page = try await store.ops.accessProblems(nil, limit: 1, cursor: cursor, in: .all)
                found += page.items.map(\.name.originalTransactionID.text)
                cursor = page.next
            } while cursor != nil
            #expect(found.sorted() == ["1", "2", "3"])
            #expect(
                try await store.ops.accessProblems(nil, limit: 5, cursor: nil, in: .publisher("other")).items.isEmpty)
        }
    }
}
