import Postgres
import RelayCore
import Testing

@testable import Billing
@testable import Relay

@Suite("A subscription of an app that is another publisher's")
struct ForeignAppTests {
    private static func key(_ billing: Billing, _ publisher: String, app: String = "com.example.app") async throws
        -> String
    {
        var generator = SystemRandomNumberGenerator()
        return try await billing.store.keys.create(
            role: .app, name: "k", publisher: PublisherID(publisher), app: BundleID(app), using: &generator)
    }

    private static func found(_ key: String, app: String? = "com.example.app") -> [ExternalSubscription] {
        [
            ExternalSubscription(
                key: TransactionID(key), environment: "Sandbox", statement: LedgerStatement(), bundleID: BundleID(app))
        ]
    }

    @Test("is unknown to a publisher while only another one has a key for the app")
    func foreign() async throws {
        try await Billing.run { billing in
            let store = billing.store
            let before = try await billing.check("1000000001")
            let theirs = try await Self.key(billing, "other")
            #expect(try await billing.record(Self.found("1000000001"), "main").isEmpty)
            #expect(try await billing.record(Self.found("1000000001"), "other").count == 1)
            // The id follows from public data: that it was once recorded must not give access.
            #expect(try await billing.add(before.id) == .unknownSubscription)
            // A subscription of an app that no key names, or without an app, is recorded.
            #expect(
                try await billing.record(Self.found("5", app: "com.example.other"), "main").count == 1)
            #expect(try await billing.record(Self.found("6", app: nil), "main").count == 1)
            // Both publishers have keys for the app.
            let mine = try await Self.key(billing, "main")
            #expect(try await billing.record(Self.found("1000000001"), "main").count == 1)
            #expect(try await billing.record(Self.found("1000000001"), "other").count == 1)
            #expect(try await store.keys.revoke(try #require(APIKey.parse(Substring(mine))?.id)))
            #expect(try await billing.record(Self.found("1000000001"), "main").isEmpty)
            #expect(try await store.keys.revoke(try #require(APIKey.parse(Substring(theirs))?.id)))
            #expect(try await billing.record(Self.found("1000000001"), "main").count == 1)
        }
    }

    @Test("stays visible to the publisher with its contract")
    func contract() async throws {
        try await Billing.run { billing in
            let contract = try await billing.contract(of: try await billing.check("1000000001").id)
            _ = try await Self.key(billing, "other")
            #expect(try await billing.check("1000000001").contract?.id == contract.id)
            #expect(try await billing.record(Self.found("1000000002"), "main").isEmpty)
        }
    }
}
