import Postgres
import RelayCore
import Testing

@testable import Billing
@testable import Relay

@Suite("The details of a billing customer")
struct BillingCustomerTests {
    private static let entry = AuditEntry(actor: "test", .customerErased, "a customer", of: nil)

    @Test("are found and erased, even of one who never bought by email")
    func erased() async throws {
        try await withStore { database, store in
            _ = try await store.publishers.add("main")
            _ = try await store.orders.addBillingCustomer(
                details: #"{"EmailAddress":"Ana@example.test"}"#, publisher: "main")
            let identity = try await store.customers.identity(of: "ana@example.test")
            let details = try await store.customers.mentions(of: identity.customer, in: .billingCustomers)
            #expect(details.map(\.text.value) == [#"{"EmailAddress":"Ana@example.test"}"#])
            #expect(details.map(\.publisher) == ["main"])
            let erased = try await Erasure(store: store).run(identity, Self.entry)
            #expect(erased.mentions["billingCustomers"] == 1)
            #expect(try await database.column("SELECT details FROM billing_customers", as: String.self) == ["{}"])
            await #expect(throws: Erasure.Refusal.unknown) { try await Erasure(store: store).run(identity, Self.entry) }
        }
    }

    @Test("are sealed, and opened again, even if they look sealed")
    func sealed() async throws {
        try await withStore { database, store in
            let details = #"{"LastName":"sealed1:"}"#
            let customer = try await store.orders.addBillingCustomer(details: details, publisher: "main").id
            let key = try #require(WrappingKey(base64: WrappingKey.make()))
            let sealing = await database.store("sealing", vault: Vault([key]))
            try await store.encryption.openVault()
            for (direction, isSealed) in [(EncryptionRun.Direction.seal, true), (.open, false)] {
                #expect(try await EncryptionRun(store: sealing, direction: direction).run { _ in } == 1)
                let stored = try await database.column("SELECT details FROM billing_customers", as: String.self)
                #expect((stored == [details]) != isSealed)
                #expect(try await sealing.orders.billingCustomer(customer, publisher: "main")?.details.value == details)
            }
        }
    }
}
