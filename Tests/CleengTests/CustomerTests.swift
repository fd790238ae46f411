import Hummingbird
import NIOCore
import ReceiverSupport
import Testing

@testable import Cleeng

/// Customers by number, read from a server with scripted answers.
struct CustomerTests {
    @Test func anEmailIsReadOnce() async throws {
        let (answers, asked) = try await withHTTPServer { _ in
            json(#"{"success":true,"data":{"id":7,"email":"ana@example.test"}}"#, status: .ok)
        } test: { url in
            try await withCleeng(url) { client in
                let before = client.knownEmail(of: 7)
                return (before, await client.customer(7), await client.customer(7), client.knownEmail(of: 8))
            }
        }
        #expect(answers.0 == nil && answers.3 == nil)
        #expect(answers.1 == .email("ana@example.test") && answers.2 == answers.1)
        #expect(asked.map(\.path) == ["/3.1/customers/7"])
    }

    /// Such a customer may come into being at any time.
    @Test func anUnknownCustomerIsAskedForAgain() async throws {
        let (answers, asked) = try await withHTTPServer { _ in
            json(#"{"code":"REQ0100","message":"Customer not found"}"#, status: .notFound)
        } test: { url in
            try await withCleeng(url) { (await $0.customer(7), await $0.customer(7)) }
        }
        #expect(answers.0 == .unknown && answers.1 == .unknown && asked.count == 2)
    }
}
