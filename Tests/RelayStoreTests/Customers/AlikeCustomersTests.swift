import RelayCore
import Testing

@testable import Relay

@Suite("Two customers whose names are equal in Unicode")
struct AlikeCustomersTests {
    @Test("are both notified, also in one batch")
    func told() async throws {
        try await withStore { database, store in
            _ = try await store.makeEndpoint()
            for (number, name) in ["ren\u{E9}@example.test", "rene\u{301}@example.test"].enumerated() {
                try await store.takeAndGrant(.sample(customer: name, subscription: "\(number)"))
            }
            let told = try await CustomerUpdates(store: store).queueMessages(limit: 10)
            #expect(told.customers == 2 && told.messages == 2)
            #expect(try await database.count("webhook_queue") == 2)
            #expect(try await database.count("webhook_deliveries") == 2)
        }
    }
}
