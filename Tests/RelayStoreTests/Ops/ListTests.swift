import Foundation
import Postgres
import RelayCore
import Testing

@testable import Relay

@Suite("The list of validations in the ops API")
struct ListTests {
    /// The items of all pages.
    private func all(
        _ store: RelayStore, _ filter: ValidationFilter, limit: Int
    ) async throws -> [[ValidationID]] {
        var filter = filter
        filter.limit = limit
        var pages: [[ValidationID]] = []
        repeat {
            let page = try await store.ops.validations(matching: filter)
            pages.append(page.items.map(\.id))
            // The cursor as a client sends it: as text.
            filter.cursor = try page.next.map { try #require(ValidationCursor($0.description)) }
        } while filter.cursor != nil
        return pages
    }

    @Test(
        "has pages, newest first, complete and without repeats, also for many in one microsecond")
    func pages() async throws {
        try await withStore { database, store in
            let samples = try (0..<23).map {
                try Acceptance.sample(customer: "c\($0 % 2)@example.test", subscription: "\($0)")
            }
            _ = try await acceptAll(samples, by: [store.intake()])
            try await database.run(
                "UPDATE validations SET accepted_at = to_timestamp(1800000000 + get_byte(uuid_send(id), 15) % 3)")
            let expected: [UUID] = try await database.column(
                "SELECT id FROM validations ORDER BY accepted_at DESC, id DESC")
            for limit in [1, 5, 23, 24] {
                let pages = try await all(store, ValidationFilter(), limit: limit)
                #expect(pages.flatMap { $0 }.map(\.uuid) == expected)
                #expect(pages.dropLast().allSatisfy { $0.count == limit })
                #expect(pages.last?.isEmpty == false)
            }
            let customer = "c1@example.test"
            let theirs: [UUID] = try await database.column(
                "SELECT id FROM validations WHERE customer = $1 ORDER BY accepted_at DESC, id DESC", .text(customer))
            let pages = try await all(store, ValidationFilter(customer: CustomerID(customer)), limit: 4)
            #expect(pages.flatMap { $0 }.map(\.uuid) == theirs)
        }
    }

    @Test("keeps its place when newer validations arrive")
    func newcomers() async throws {
        try await withStore { database, store in
            var ids: [ValidationID] = []
            for number in 0..<4 { ids.append(try await store.take(.sample(subscription: "\(number)"))) }
            let first = try await store.ops.validations(matching: ValidationFilter(limit: 2))
            try await store.take(.sample(subscription: "new"))
            let second = try await store.ops.validations(matching: ValidationFilter(limit: 2, cursor: first.next))
            #expect((first.items + second.items).map(\.id) == ids.reversed())
            #expect(second.next == nil)
        }
    }

    @Test("by status uses the status that a reader gets: past the deadline it is timed_out")
    func status() async throws {
        try await withStore { database, store in
            let granted = try await store.takeAndGrant(.sample(subscription: "1"))
            let past = try await store.take(.sample(subscription: "2"))
            try await database.letPass(seconds: 60)
            let pending = try await store.take(.sample(subscription: "3"))
            func ids(_ status: ValidationStatus) async throws -> [ValidationID] {
                let items = try await store.ops.validations(matching: ValidationFilter(status: status)).items
                #expect(items.allSatisfy { $0.validation.status == status })
                return items.map(\.id)
            }
            #expect(try await ids(.pending) == [pending])
            #expect(try await ids(.timedOut) == [past])
            #expect(try await ids(.granted) == [granted])
            #expect(try await ids(.rejected).isEmpty)
        }
    }

    @Test("can be narrowed by age, customer and offer, together")
    func filters() async throws {
        try await withStore { database, store in
            let old = try await store.take(.sample(customer: "ana@example.test", subscription: "1", offer: "S1_US"))
            try await store.take(.sample(customer: "ben@example.test", subscription: "2", offer: "S1_US"))
            try await store.take(.sample(customer: "ana@example.test", subscription: "3", offer: "S2_US"))
            try await database.letPass(seconds: 100)
            let new = try await store.take(.sample(customer: "ana@example.test", subscription: "4", offer: "S1_US"))
            func ids(_ filter: ValidationFilter) async throws -> [ValidationID] {
                try await store.ops.validations(matching: filter).items.map(\.id)
            }
            #expect(try await ids(ValidationFilter(customer: "ana@example.test", offerID: "S1_US")) == [new, old])
            #expect(
                try await ids(
                    ValidationFilter(olderThan: .seconds(100), customer: "ana@example.test", offerID: "S1_US")) == [old]
            )
            #expect(try await ids(ValidationFilter(olderThan: .seconds(100))).count == 3)
            #expect(try await ids(ValidationFilter(olderThan: .seconds(3_600))).isEmpty)
            #expect(try await ids(ValidationFilter(customer: "nobody@example.test")).isEmpty)
            #expect(try await ids(ValidationFilter(offerID: "S1_US")).count == 3)
        }
    }

    @Test("of subscriptions has the newest events of each, however many another has")
    func timelines() async throws {
        try await withStore { database, store in
            for key in ["1", "2"] {
                try await Notices(store: store, database: database, key: key).come("SUBSCRIBED", said: 0)
            }
            try await database.run("UPDATE subscription_events SET recorded_at = recorded_at - interval '1 day'")
            try await database.run(
                """
                INSERT INTO subscription_events (
                    bucket, accepted_on, id, recorded_at, said_at, publisher, environment, subscription_key, event)
                SELECT e.bucket, e.accepted_on, gen_random_uuid(), now() + n * interval '1 microsecond', now(), e.publisher,
                       e.environment, e.subscription_key, 'later'
                FROM (SELECT * FROM subscription_events WHERE subscription_key = '1' LIMIT 1) AS e, generate_series(1, 1100) AS n
                """)
            let page = try await store.ops.subscriptions(matching: SubscriptionFilter()).items
            let counts = Dictionary(
                uniqueKeysWithValues: page.map { ($0.name.originalTransactionID, $0.timeline.count) })
            #expect(counts["1"] == 100 && counts["2"].map { $0 > 0 } == true, "\(counts)")
            let alone = try await store.ops.subscriptions(matching: SubscriptionFilter(originalTransactionID: "1"))
            #expect(alone.items.map(\.timeline.count) == [1_000])
        }
    }

    @Test("accepts an age beyond all stored times", arguments: [Int64.max, 1_000_000_000_000])
    func hugeAge(seconds: Int64) async throws {
        try await withStore { database, store in
            try await store.take(.sample())
            let page = try await store.ops.validations(matching: ValidationFilter(olderThan: .seconds(seconds)))
            #expect(page.items.isEmpty)
        }
    }

    @Test(
        "accepts only valid cursors",
        arguments: [
            "", "-", "1-2", "x-\(String(repeating: "0", count: 38))", "1-\(String(repeating: "0", count: 37))",
            "\(Int64.max)-\(String(repeating: "0", count: 38))", "-5-\(String(repeating: "0", count: 38))",
        ])
    func cursor(text: String) {
        #expect(ValidationCursor(text) == nil)
    }
}
