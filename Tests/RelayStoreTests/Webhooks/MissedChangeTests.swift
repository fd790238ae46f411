import Postgres
import RelayCore
import Testing

@testable import Relay

@Suite("Changes that an endpoint missed")
struct MissedChangeTests {
    private static let all = RepeatFilter(from: Timestamp(seconds: 0), to: Timestamp(seconds: 4_000_000_000))

    /// A purchase of a customer of its own, and the messages about it.
    private func change(_ number: Int, _ store: RelayStore, _ database: TestDatabase) async throws -> Int {
        try await store.takeAndGrant(.sample(customer: "c\(number)@example.test", subscription: "\(number)"))
        try await Notices(store: store, database: database, key: "\(number)").come("SUBSCRIBED", said: 0)
        return try await CustomerUpdates(store: store).queueMessages(limit: 10).messages
    }

    @Test("while it was disabled are among those to repeat, until they were repeated")
    func disabled() async throws {
        try await withStore { database, store in
            let (one, other) = (try await store.makeEndpoint(), try await store.makeEndpoint())
            #expect(try await change(0, store, database) == 2)
            #expect(try await store.webhooks.repeatTargets(Self.all).isEmpty)
            #expect(try await store.webhooks.disableEndpoint(one, .operator))
            #expect(try await change(1, store, database) == 1)
            #expect(try await change(2, store, database) == 1)
            #expect(try await store.webhooks.repeatTargets(Self.all).isEmpty)
            #expect(try await store.webhooks.enableEndpoint(one))
            // An endpoint that is added afterwards missed nothing.
            _ = try await store.makeEndpoint()
            var filter = Self.all
            filter.limit = 1
            let first = try await store.webhooks.repeatTargets(filter)
            filter.after = first.first
            let second = try await store.webhooks.repeatTargets(filter)
            let targets = first + second
            #expect(targets.count == 2 && Set(targets).count == 2 && targets.allSatisfy { $0.endpoint == one })
            filter.after = second.first
            #expect(try await store.webhooks.repeatTargets(filter).isEmpty)
            filter = Self.all
            filter.endpoint = other
            #expect(try await store.webhooks.repeatTargets(filter).isEmpty)

            let updates = CustomerUpdates(store: store)
            for target in targets {
                let sent = try await updates.repeatCustomer(
                    publisher: target.publisher, username: try #require(target.username), endpoint: target.endpoint)
                #expect(sent.count == 1)
            }
            #expect(try await store.webhooks.repeatTargets(Self.all).isEmpty)
        }
    }

    @Test("are those of its environment, and as young as the messages that are kept")
    func bounds() async throws {
        try await withStore { database, store in
            try await store.webhooks.ensureFirstPublisher()
            var ids: [WebhookEnvironment: EndpointID] = [:]
            for environment in WebhookEnvironment.allCases {
                ids[environment] = try await store.webhooks.addEndpoint(
                    publisher: "main", url: "https://shop.example.com/\(environment)", environment: environment)
            }
            for id in ids.values { #expect(try await store.webhooks.disableEndpoint(id, .operator)) }
            #expect(try await change(0, store, database) == 0)
            for id in ids.values { #expect(try await store.webhooks.enableEndpoint(id)) }
            for (environment, expected) in [
                ("Production", [.all, .production]), ("Sandbox", [.all, .sandbox]), (nil, WebhookEnvironment.allCases),
            ] as [(String?, [WebhookEnvironment])] {
                try await database.run("UPDATE customers SET environment = $1", .text(environment))
                let targets = try await store.webhooks.repeatTargets(Self.all)
                #expect(
                    Set(targets.map(\.endpoint)) == Set(expected.compactMap { ids[$0] }), "\(environment ?? "both")")
            }
            try await database.run("UPDATE webhook_endpoints SET created_at = now() - interval '1 year'")
            try await database.run("UPDATE customers SET changed_at = now() - interval '90 days 1 hour'")
            var filter = Self.all
            #expect(try await store.webhooks.repeatTargets(filter).count == 3)
            filter.keptDays = 90
            #expect(try await store.webhooks.repeatTargets(filter).isEmpty)
        }
    }
}
